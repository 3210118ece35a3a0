#include <gtest/gtest.h>

#include "config/placer_config.h"
#include "tests/config/source_file.h"
#include "tests/config/temporary_folder.h"

namespace sluice::config {
namespace {

constexpr std::string_view kBase =
    "compute_hosts:\n  - {name: a, address: 10.0.0.1}\n  - {name: b, address: 10.0.0.2, port: 3000}\n";

PlacerLoadOutcome load_with(std::string_view more) {
  return load_placer_text(std::string(kBase) + std::string(more), "/nowhere/placer.yaml");
}

bool has_problem(const PlacerLoadOutcome& outcome, std::string_view key, std::string_view text) {
  for (const Problem& problem : outcome.problems)
    if (problem.key == key && problem.message.find(text) != std::string::npos) return true;
  for (const Problem& problem : outcome.problems)
    ADD_FAILURE() << to_string(problem);
  return false;
}

TEST(PlacerDocuments, SampleFileIsUpToDate) {
  EXPECT_TRUE(source_file("conf/placer.yaml") == placer_sample_file())
      << "conf/placer.yaml is out of date: sluice_config_print placer-sample > conf/placer.yaml";
}

TEST(PlacerDocuments, ReferencePageIsUpToDate) {
  EXPECT_TRUE(source_file("docs/reference/placer-configuration.md") == placer_reference_page())
      << "docs/reference/placer-configuration.md is out of date: sluice_config_print placer-reference";
}

TEST(PlacerDocuments, SampleFileIsAValidConfiguration) {
  const PlacerLoadOutcome outcome = load_placer_text(placer_sample_file(), "/nowhere/placer.yaml");
  EXPECT_TRUE(outcome.config);
  EXPECT_TRUE(outcome.problems.empty()) << to_string(outcome.problems.front());
}

// Every commented key, taken into use, must be one that the parser knows, with a value that it takes.
TEST(PlacerDocuments, SampleFileShowsDefaultsThatCanBeUncommented) {
  std::string uncommented;
  const std::string sample = placer_sample_file();
  for (std::size_t at = 0; at < sample.size();) {
    const std::size_t end = sample.find('\n', at);
    const std::string line = sample.substr(at, end - at);
    const bool is_key = line.size() > 1 && line[0] == '#' && line[1] != ' ';
    const bool is_item = line.starts_with("#  - ");
    uncommented += (is_key || is_item ? line.substr(1) : line) + "\n";
    at = end + 1;
  }
  const PlacerLoadOutcome outcome = load_placer_text(uncommented, "/nowhere/placer.yaml");
  for (const Problem& problem : outcome.problems)
    ADD_FAILURE() << to_string(problem);
}

TEST(PlacerConfig, ReadsHostsRoutesAndDependencies) {
  const auto outcome = load_with(
      "routes:\n  - {pattern: /feed}\n  - {pattern: '/a/:id', method: GET, n_serial: 2.5, target: primary}\n"
      "  - {pattern: /c/*, n_serial: calibrated, class: premium, profile_route: c#show}\n"
      "dependencies:\n  - {name: redis, rtt: {a: 200us, b: 0.9}, n_serial: {/feed: 2}}\n");
  ASSERT_TRUE(outcome.config);
  const PlacerConfig& config = *outcome.config;
  EXPECT_EQ(config.compute_hosts[1].port, 3000U);
  EXPECT_EQ(config.routes[0].profile_route, "/feed");
  EXPECT_EQ(config.routes[0].n_serial.source, SerialCalls::Source::Profile);
  EXPECT_EQ(config.routes[1].n_serial.number, 2.5);
  EXPECT_EQ(config.routes[1].target, Target::Primary);
  EXPECT_EQ(config.routes[2].n_serial.source, SerialCalls::Source::Calibrated);
  EXPECT_EQ(config.dependencies[0].rtt[0].second, std::chrono::microseconds(200));
  EXPECT_EQ(config.dependencies[0].rtt[1].second, std::chrono::microseconds(900));
  // What is printed reads back as the same.
  const auto again = load_placer_text(effective_values(config), "/nowhere/placer.yaml");
  ASSERT_TRUE(again.config);
  EXPECT_EQ(effective_values(*again.config), effective_values(config));
}

TEST(PlacerConfig, NamesWhatIsWrong) {
  EXPECT_TRUE(has_problem(load_placer_text("listen_port: 1\n", "/x"), "compute_hosts", "is missing"));
  EXPECT_TRUE(has_problem(load_with("polcy: profiled\n"), "polcy", "unknown key"));
  EXPECT_TRUE(has_problem(load_with("policy: fastest\n"), "policy", "is not"));
  EXPECT_TRUE(has_problem(load_with("policy: profiled\n"), "policy", "nothing is known"));
  EXPECT_TRUE(has_problem(load_with("listen_tls_port: 1\n"), "tls_cert_file", "is missing"));
  EXPECT_TRUE(has_problem(load_with("max_header_bytes: 200kB\n"), "max_header_bytes", "buffer_size"));
  EXPECT_TRUE(has_problem(load_with("upgrades: [h2c]\n"), "upgrades", "unseen"));
  EXPECT_TRUE(has_problem(load_with("dependencies: [{name: r, rtt: {a: 1ms}, n_serial: {}}]\n"),
                          "dependencies[0].rtt", "lacks the compute host b"));
  EXPECT_TRUE(has_problem(load_with("dependencies: [{name: r, rtt: {a: 1ms, b: x}, n_serial: {}}]\n"),
                          "dependencies[0].rtt", "the value of b"));
  EXPECT_TRUE(has_problem(load_with("dependencies: [{name: r, rtt: {a: 1, b: 1}, n_serial: {/f: 1}}]\n"),
                          "dependencies[0].n_serial", "no route"));
  for (const char* pattern : {"feed", "/a//b", "/a/:", "/a/*/b", "/a*", "/a/../b", "/a?b", "/a b"})
    EXPECT_TRUE(has_problem(load_with("routes: [{pattern: '" + std::string(pattern) + "'}]\n"),
                            "routes[0].pattern", ""))
        << pattern;
  EXPECT_TRUE(
      has_problem(load_with("routes: [{pattern: /a}, {pattern: /a}]\n"), "routes[1].pattern", "twice"));
  EXPECT_TRUE(
      has_problem(load_with("routes: [{pattern: /a, n_serial: many}]\n"), "routes[0].n_serial", "is not"));
  EXPECT_TRUE(
      has_problem(load_placer_text("compute_hosts: [{name: a, address: x}, {name: a, address: y}]\n", "/x"),
                  "compute_hosts[1].name", "two hosts"));
}

TEST(PlacerConfig, IsToldByItsHosts) {
  const TemporaryFolder folder;
  folder.write("placer", std::string(kBase));
  folder.write("router", "replicas: [a]\n");
  EXPECT_TRUE(is_placer_file(folder.path("placer")));
  EXPECT_FALSE(is_placer_file(folder.path("router")));
  EXPECT_FALSE(is_placer_file(folder.path("nothing")));
}

TEST(PlacerConfig, KnowsWhatTakesARestart) {
  const auto from = load_with("").config;
  EXPECT_TRUE(placer_needing_restart(*from, *load_with("policy: user_first\nretries: 0\n").config).empty());
  const auto changes = placer_needing_restart(*from, *load_with("listen_port: 81\n").config);
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0], "listen_port: 8080 would become 81");
}

}  // namespace
}  // namespace sluice::config
