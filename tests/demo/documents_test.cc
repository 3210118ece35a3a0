// The examples in README.md and docs/ are configurations that load, and the links between the documents lead
// somewhere.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "calibration/calibration_file.h"
#include "config/config.h"
#include "config/placer_config.h"

namespace sluice::demo {
namespace {

namespace fs = std::filesystem;

fs::path source() {
  const char* given = std::getenv("SLUICE_SOURCE_DIR");
  return given != nullptr ? given : ".";
}

std::vector<fs::path> documents() {
  std::vector<fs::path> found{source() / "README.md", source() / "docker/README.md",
                              source() / "deploy/README.md"};
  for (const auto& entry : fs::recursive_directory_iterator(source() / "docs"))
    if (entry.path().extension() == ".md") found.push_back(entry.path());
  return found;
}

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The fenced blocks of that language, without the indentation that a list gives them.
std::vector<std::string> blocks(const std::string& text, const std::string& language) {
  std::vector<std::string> result;
  std::istringstream lines(text);
  std::size_t indent = 0;
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find_first_not_of(' ');
    const bool fence = first != std::string::npos && line.compare(first, 3, "```") == 0;
    if (fence && !inside && line.substr(first + 3) == language) {
      inside = true;
      indent = first;
      result.emplace_back();
    } else if (fence) {
      inside = false;
    } else if (inside) {
      result.back() += line.substr(std::min(indent, line.size())) + "\n";
    }
  }
  return result;
}

class Folder {
 public:
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "documents-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
    path_ = pattern;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { fs::remove_all(path_); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name) << text;
    fs::permissions(path_ / name, fs::perms::owner_read | fs::perms::owner_write);
    return (path_ / name).string();
  }

 private:
  fs::path path_;
};

std::string verifier(const std::string& user) {
  return "\"" + user + "\" \"SCRAM-SHA-256$4096:c2FsdHNhbHRzYWx0$" + std::string(43, 'A') +
         "=:" + std::string(43, 'A') + "=\"\n";
}

bool has_key(const std::string& yaml, const std::string& key) {
  return ("\n" + yaml).find("\n" + key + ":") != std::string::npos;
}

// The problems of an example, read as the kind of file that its keys say it is.
config::Problems problems_of(const Folder& folder, std::string example) {
  if (has_key(example, "version") && has_key(example, "hosts")) {
    config::Problems problems;
    (void)calibration::parse(example, "calibration.yaml", problems);
    return problems;
  }
  if (has_key(example, "compute_hosts"))
    return config::load_placer(folder.write("placer.yaml", example)).problems;
  // What is no whole configuration stands for the part that it shows.
  if (example.find("replicas:") == std::string::npos)
    example += "replicas: [10.0.0.11, 10.0.0.12, 10.0.0.13, 10.0.0.14]\n";
  if (example.find("auth_file:") == std::string::npos) example += "auth_file: userlist.txt\n";
  return config::load(folder.write("sluice.yaml", example)).problems;
}

TEST(Documents, ExamplesAreConfigurationsThatLoad) {
  const Folder folder;
  folder.write("userlist.txt", verifier("ops") + verifier("checkout"));
  for (const char* name : {"server.password", "auth.password", "monitor.password"})
    folder.write(name, "secret\n");
  for (const char* name : {"router.crt", "router.key", "clients-ca.crt", "servers-ca.crt"})
    folder.write(name, "");
  std::size_t count = 0;
  for (const fs::path& document : documents()) {
    for (const std::string& example : blocks(text_of(document), "yaml")) {
      for (const config::Problem& problem : problems_of(folder, example))
        ADD_FAILURE() << document << ": " << config::to_string(problem) << "\n" << example;
      ++count;
    }
  }
  EXPECT_GE(count, 6U);
}

TEST(Documents, ReadmeShowsAConfigurationOfTwoClassesAndAPrimary) {
  const Folder folder;
  folder.write("userlist.txt", verifier("ops"));
  const auto examples = blocks(text_of(source() / "README.md"), "yaml");
  ASSERT_EQ(examples.size(), 1U);
  const config::LoadOutcome outcome = config::load(folder.write("sluice.yaml", examples[0]));
  ASSERT_NE(outcome.config, nullptr);
  EXPECT_EQ(outcome.config->classes.size(), 2U);
  EXPECT_TRUE(outcome.config->primary.has_value());
}

TEST(Documents, LinksLeadToFiles) {
  const std::regex link(R"(\]\(([^)#\s]+)(#[^)]*)?\))");
  for (const fs::path& document : documents()) {
    const std::string text = text_of(document);
    ASSERT_FALSE(text.empty()) << document;
    for (std::sregex_iterator at(text.begin(), text.end(), link), end; at != end; ++at) {
      const std::string target = (*at)[1];
      if (target.find("://") != std::string::npos) continue;
      EXPECT_TRUE(fs::exists(document.parent_path() / target)) << document << ": " << target;
    }
  }
}

TEST(Documents, SettingsThatTheyNameExist) {
  const std::string reference = text_of(source() / "docs/reference/configuration.md") +
                                text_of(source() / "docs/reference/placer-configuration.md");
  const std::regex setting(
      R"(`((?:server|client|auth|health_check|max|tcp|admin|log|listen|default|trust|no_replica|application_name)_[a-z_]+)`)");
  for (const fs::path& document : documents()) {
    if (document.parent_path().filename() == "reference") continue;  // printed from the tables themselves
    const std::string text = text_of(document);
    for (std::sregex_iterator at(text.begin(), text.end(), setting), end; at != end; ++at)
      EXPECT_NE(reference.find("`" + (*at)[1].str() + "`"), std::string::npos)
          << document << ": " << (*at)[1];
  }
}

}  // namespace
}  // namespace sluice::demo
