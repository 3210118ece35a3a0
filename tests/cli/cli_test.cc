#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

struct Ran {
  int exit_code;
  std::string output;  // both streams, in the order written
};

// Runs the program through a shell: arguments as a shell would take them, input through printf.
Ran sluice(const std::string& arguments, const std::string& input = "") {
  const std::string command = "printf '%s' '" + input + "' | " SLUICE_PROGRAM " " + arguments + " 2>&1";
  std::FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return {-1, "popen failed"};
  Ran ran{};
  char buffer[4096];
  for (std::size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;)
    ran.output.append(buffer, n);
  const int status = ::pclose(pipe);
  ran.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return ran;
}

// A file in the test's own temporary folder, gone with it.
class ConfigFile {
 public:
  explicit ConfigFile(const std::string& text)
      : path_(testing::TempDir() + "sluice_cli_test_" + std::to_string(::getpid()) + ".yaml") {
    std::ofstream(path_) << text;
  }
  ~ConfigFile() { std::remove(path_.c_str()); }
  ConfigFile(const ConfigFile&) = delete;
  ConfigFile& operator=(const ConfigFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

const char* const kThreeReplicas =
    "auth_type: trust\n"
    "server_user: app\n"
    "policy: plb\n"
    "replicas: [{name: a, host: db1}, {name: b, host: db2}, {name: c, host: db3, pool: mixed}]\n"
    "classes:\n"
    "  - {name: gold, saturation: 1, return_ratio: \"1\", floor: 0, target: 1}\n"
    "  - {name: tin, saturation: 1, return_ratio: \"1\", floor: 1, target: 1}\n";

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Cli, PrintsHelpAndVersion) {
  EXPECT_EQ(sluice("--help").exit_code, 0);
  EXPECT_TRUE(contains(sluice("--help").output, "decide"));
  EXPECT_EQ(sluice("decide --help").exit_code, 0);
  EXPECT_TRUE(contains(sluice("decide --help").output, "\"op\":\"open\""));
  EXPECT_EQ(sluice("--version").exit_code, 0);
  EXPECT_TRUE(contains(sluice("--version").output, "sluice 0."));
}

TEST(Cli, NamesTheConfigurationAlikeInAllCommands) {
  for (const std::string command : {"router", "placer", "check", "decide", "calibrate"}) {
    const std::string help = sluice(command + " --help").output;
    EXPECT_TRUE(contains(help, "-c,--config FILE") || contains(help, "-c,--config,file FILE")) << help;
    EXPECT_TRUE(contains(help, "Configuration file")) << help;
  }
}

TEST(Cli, AnswersAWrongCommandLineWithTwo) {
  EXPECT_EQ(sluice("").exit_code, 2);
  EXPECT_TRUE(contains(sluice("").output, "decide"));
  EXPECT_EQ(sluice("decide --no-such-option").exit_code, 2);
  EXPECT_TRUE(contains(sluice("decide --no-such-option").output, "--no-such-option"));
}

TEST(Cli, NamesTheNearestCommand) {
  EXPECT_EQ(sluice("decied").exit_code, 2);
  EXPECT_EQ(sluice("decied").output,
            "sluice: unknown command 'decied'; did you mean 'decide'? See 'sluice --help'.\n");
  EXPECT_EQ(sluice("x").output, "sluice: unknown command 'x'. See 'sluice --help'.\n");
}

TEST(Cli, DecidesOnStandardStreams) {
  const Ran good =
      sluice("decide",
             "{\"op\":\"config\",\"policy\":\"plb\",\"classes\":[{\"name\":\"a\",\"saturation\":1,"
             "\"return_ratio\":\"1\",\"floor\":0,\"target\":1}],\"replicas\":[\"x\"]}\n"
             "{\"op\":\"open\",\"id\":\"s\",\"class\":\"a\"}\n");
  EXPECT_EQ(good.exit_code, 0);
  EXPECT_EQ(
      good.output,
      "{\"id\":\"s\",\"replica\":\"x\",\"outcome\":\"own\",\"changes\":[]}\n"
      "{\"op\":\"state\",\"replicas\":[{\"replica\":\"x\",\"pool\":\"a\",\"borrowed\":false,\"up\":true,"
      "\"loads\":{\"a\":1}}]}\n");
  const Ran bad = sluice("decide", "{\"op\":\"nonsense\"}\n");
  EXPECT_EQ(bad.exit_code, 1);
  EXPECT_EQ(bad.output.rfind("line 1: unknown op \"nonsense\"", 0), 0u) << bad.output;
}

TEST(Cli, DecidesOnTheClassesAndReplicasOfAConfigurationFile) {
  const ConfigFile file(kThreeReplicas);
  const Ran ran = sluice("decide -c " + file.path() + " 2>/dev/null",
                         "{\"op\":\"open\",\"id\":\"1\",\"class\":\"gold\"}\n"
                         "{\"op\":\"open\",\"id\":\"2\",\"class\":\"gold\"}\n");
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_TRUE(contains(ran.output, "{\"id\":\"1\",\"replica\":\"a\",\"outcome\":\"own\",\"changes\":[]}\n"))
      << ran.output;
  EXPECT_TRUE(contains(ran.output, "{\"id\":\"2\",\"replica\":\"c\",\"outcome\":\"borrowed_mixed\""))
      << ran.output;
  EXPECT_EQ(sluice("decide -c /nonexistent.yaml").exit_code, 1);
}

TEST(Cli, SaysWhyAProfileCannotBeShown) {
  for (const std::string command : {"profile show ", "profile export "}) {
    const Ran none = sluice(command + "/nonexistent/profile");
    EXPECT_EQ(none.exit_code, 1);
    EXPECT_TRUE(contains(none.output, "/nonexistent/profile: there is no profile")) << none.output;
    const ConfigFile foreign(kThreeReplicas);
    EXPECT_EQ(sluice(command + foreign.path()).exit_code, 1);
    EXPECT_TRUE(contains(sluice(command + foreign.path()).output, "this is no profile; is the path right?"));
  }
}

TEST(Cli, AsksForWhatAMirrorNeeds) {
  EXPECT_EQ(sluice("profile").exit_code, 2);
  EXPECT_EQ(sluice("profile mirror http://localhost:1").exit_code, 2) << "--to";
  EXPECT_EQ(sluice("profile mirror http://localhost:1 --to /tmp/x --mode 999").exit_code, 2);
  const Ran scheme = sluice("profile mirror localhost:1 --to /tmp/x");
  EXPECT_EQ(scheme.exit_code, 2);
  EXPECT_TRUE(contains(scheme.output, "must begin with http://")) << scheme.output;
  const Ran nowhere = sluice("profile mirror http://localhost:1 --to /nonexistent/x");
  EXPECT_EQ(nowhere.exit_code, 1);
  EXPECT_TRUE(contains(nowhere.output, "cannot open /nonexistent/x.lock")) << nowhere.output;
}

TEST(Cli, ChecksAConfigurationFile) {
  const ConfigFile good(kThreeReplicas);
  for (const std::string& arguments : {"check -c " + good.path(), "check " + good.path()}) {
    const Ran ran = sluice(arguments);
    EXPECT_EQ(ran.exit_code, 0) << ran.output;
    EXPECT_TRUE(contains(ran.output, "0 errors")) << ran.output;
    EXPECT_TRUE(contains(ran.output, "server_connect_timeout: ")) << ran.output;
  }
  EXPECT_EQ(sluice("check").exit_code, 2);
  const Ran sample = sluice("check --print-sample");
  EXPECT_EQ(sample.exit_code, 0);
  EXPECT_NE(sample.output.find("#query_timeout:"), std::string::npos);
  const Ran reference = sluice("check --print-reference");
  EXPECT_EQ(reference.exit_code, 0);
  EXPECT_NE(reference.output.find("| `query_timeout` |"), std::string::npos);
}

TEST(Cli, NamesEveryProblemOfAConfigurationFile) {
  const ConfigFile bad(std::string(kThreeReplicas) + "server_conect_timeout: 3\nthreads: many\n");
  const Ran ran = sluice("check -c " + bad.path());
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_TRUE(contains(ran.output, bad.path() + ":8:1: error: server_conect_timeout: ")) << ran.output;
  EXPECT_TRUE(contains(ran.output, "server_connect_timeout?")) << ran.output;
  EXPECT_TRUE(contains(ran.output, bad.path() + ":9:")) << ran.output;
}

// Reference numbers: mean size 3000, largest 1e10, alpha 1.1, load 0.5, two hosts.
TEST(Sim, PrintsTheFormulasOfAssignment) {
  const Ran ran = sluice("sim assignment --formulas --hosts 2 --alpha 1.1 --load 0.5 --max 1e10");
  EXPECT_EQ(ran.exit_code, 0);
  for (const char* number : {"1.209e+08", "13.93", "13.68"})
    EXPECT_TRUE(contains(ran.output, number)) << number << "\n" << ran.output;
}

TEST(Sim, GivesTheSameNumbersWithAnyCountOfThreads) {
  const std::string asked =
      "sim assignment --hosts 2 --alpha 1.5 --load 0.5 --jobs 1000 --runs 3 --seed 5 --threads ";
  const Ran one = sluice(asked + "1"), many = sluice(asked + "5");
  EXPECT_EQ(one.exit_code, 0);
  EXPECT_TRUE(contains(one.output, "least_work_left")) << one.output;
  EXPECT_EQ(one.output, many.output);
}

TEST(Sim, PrintsSchedulesAndWritesCsv) {
  const std::string file = testing::TempDir() + "sluice_cli_test_sim_" + std::to_string(::getpid()) + ".csv";
  const Ran ran = sluice("sim scheduling --alpha 1.5 --load 0.8 --jobs 1000 --runs 2 --csv " + file);
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_TRUE(contains(ran.output, "shortest_connection_first")) << ran.output;
  std::ifstream in(file);
  std::string header;
  std::getline(in, header);
  EXPECT_EQ(header.substr(0, 20), "alpha,load,policy,re");
  std::remove(file.c_str());
  const Ran failed = sluice("sim scheduling --formulas --csv /nonexistent/x.csv");
  EXPECT_EQ(failed.exit_code, 1);
  EXPECT_TRUE(contains(failed.output, "cannot write /nonexistent/x.csv")) << failed.output;
}

TEST(Sim, RunsThePlbEvaluation) {
  const Ran ran = sluice("sim plb --sessions 1000 --premium 0.3 --runs 2 --comparisons");
  EXPECT_EQ(ran.exit_code, 0);
  for (const char* part :
       {"5PLB", "4RR+1RR", "least_loaded", "Hedges g", "paper", "O1 Premium", "O3 Freemium"})
    EXPECT_TRUE(contains(ran.output, part)) << part << "\n" << ran.output;
  EXPECT_EQ(sluice("sim plb --strategy 6RR").exit_code, 2);
  EXPECT_EQ(sluice("sim plb --lifetime-min 9 --lifetime-max 8").exit_code, 2);
}

TEST(Sim, SetsTheDialBesidePlb) {
  const Ran ran = sluice(
      "sim plb --sessions 1000 --premium 0.3 --runs 2 --strategy 5PLB,5RR --weight 1,2,4 --hold median:0.8 "
      "--think 0.5 "
      "--demand 8 --cores-per-query 3");
  EXPECT_EQ(ran.exit_code, 0);
  for (const char* part : {"proportional/2", "proportional/median:0.8", "P within 3% at w"})
    EXPECT_TRUE(contains(ran.output, part)) << part << "\n" << ran.output;
  EXPECT_EQ(sluice("sim plb --weight 0").exit_code, 2);
  EXPECT_EQ(sluice("sim plb --hold mean:2").exit_code, 2);
}

TEST(Sim, WritesAPageWithChartsForEachCommand) {
  const std::string file =
      testing::TempDir() + "sluice_cli_test_report_" + std::to_string(::getpid()) + ".html";
  for (const char* asked :
       {"sim assignment --formulas --hosts 2,4", "sim scheduling --formulas",
        "sim plb --sessions 600 --premium 0.3,0.5 --runs 2 --weight 1,2", "sim placement"}) {
    const Ran ran = sluice(std::string(asked) + " --report " + file);
    EXPECT_EQ(ran.exit_code, 0) << ran.output;
    std::ifstream in(file);
    const std::string page((std::istreambuf_iterator<char>(in)), {});
    EXPECT_TRUE(contains(page, "<code>sluice " + std::string(asked) + " --report " + file + "</code>"))
        << asked;
    EXPECT_TRUE(contains(page, "application/json")) << asked;
    EXPECT_TRUE(contains(page, "</html>")) << asked;
    std::remove(file.c_str());
  }
  EXPECT_EQ(sluice("sim placement --report /nonexistent/x.html").exit_code, 1);
}

TEST(Trace, SaysWhatCannotBeReplayed) {
  EXPECT_EQ(sluice("sim replay").exit_code, 2);
  const Ran missing = sluice("sim replay /nonexistent/trace");
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_TRUE(contains(missing.output, "cannot read /nonexistent/trace")) << missing.output;
  const ConfigFile other("no trace at all, but long enough for a header");
  const Ran refused = sluice("tune " + other.path());
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_TRUE(contains(refused.output, "the file is not a trace")) << refused.output;
  EXPECT_EQ(sluice("sim replay " + other.path() + " --policy best").exit_code, 2);
  EXPECT_EQ(sluice("sim replay " + other.path() + " --split 3-2").exit_code, 2);
}

TEST(Sim, SweepsPlacementOverSerialCalls) {
  const Ran published = sluice("sim placement --calls 0,3");
  EXPECT_EQ(published.exit_code, 0);
  EXPECT_TRUE(contains(published.output, "3.55")) << published.output;
  EXPECT_TRUE(contains(published.output, "1.62")) << published.output;
  // Published medians of /feed-naive; crossovers 0.739 / 0.124, and with residuals 0.287 / 0.124.
  const auto measured = [](const std::string& median) {
    return "{median_ms: " + median + ", low_ms: " + median + ", high_ms: " + median +
           ", samples: 500, measured_at: \"2026-01-31T12:00:00Z\"}";
  };
  const auto host = [&](const std::string& name, const std::string& health, const std::string& sql) {
    return "  - {name: " + name + ", health: " + measured(health) + ", select_1: " + measured(sql) + "}\n";
  };
  const ConfigFile calibration(
      "version: 1\nhosts:\n" + host("a", "0.741", "0.355") + host("b", "1.480", "0.231") +
      "routes:\n  - name: /feed-naive\n    n_serial: 12\n    n_serial_source: observed\n"
      "    hosts:\n      - {name: a, response: " +
      measured("5.650") + "}\n      - {name: b, response: " + measured("4.449") + "}\n");
  const Ran own = sluice("sim placement --calibration " + calibration.path() + " --route /feed-naive");
  EXPECT_EQ(own.exit_code, 0);
  EXPECT_TRUE(contains(own.output, "5.96")) << own.output;
  EXPECT_TRUE(contains(own.output, "2.31")) << own.output;
  const Ran unknown = sluice("sim placement --calibration " + calibration.path() + " --route /feed");
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_TRUE(contains(unknown.output, "no route")) << unknown.output;
  EXPECT_EQ(sluice("sim placement --route /feed").exit_code, 2);
}

TEST(Sim, RefusesWhatMakesNoSense) {
  for (const char* wrong :
       {"sim", "sim assignment --hosts 0", "sim assignment --load 1", "sim assignment --runs 1",
        "sim assignment --policy best", "sim assignment --max 100", "sim scheduling --quantum 0"}) {
    const Ran ran = sluice(wrong);
    EXPECT_EQ(ran.exit_code, 2) << wrong << "\n" << ran.output;
  }
}

}  // namespace
