#include "config/print.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "config/diff.h"
#include "tests/config/loading.h"
#include "tests/config/source_file.h"

namespace sluice::config {
namespace {

TEST(Documents, SampleFileIsUpToDate) {
  EXPECT_TRUE(source_file("conf/sluice.yaml") == sample_file())
      << "conf/sluice.yaml is out of date: sluice_config_print sample > conf/sluice.yaml";
}

TEST(Documents, ReferencePageIsUpToDate) {
  EXPECT_TRUE(source_file("docs/reference/configuration.md") == reference_page())
      << "docs/reference/configuration.md is out of date: sluice_config_print reference > "
         "docs/reference/configuration.md";
}

TEST(Documents, SampleFileIsAValidConfiguration) {
  const Loading loading;
  loading.folder().write("userlist.txt.example", source_file("conf/userlist.txt.example"));
  const LoadOutcome outcome = loading.load(sample_file());
  EXPECT_TRUE(outcome.config) << text_of(outcome.problems);
  EXPECT_TRUE(outcome.problems.empty()) << text_of(outcome.problems);
}

// Every commented key, taken into use, must be one that the parser knows, with a value that it takes.
TEST(Documents, SampleFileShowsDefaultsThatCanBeUncommented) {
  const Loading loading;
  loading.folder().write("userlist.txt.example", "");
  std::string uncommented;
  std::size_t at = 0;
  const std::string sample = sample_file();
  while (at < sample.size()) {
    const std::size_t end = sample.find('\n', at);
    std::string line = sample.substr(at, end - at);
    const bool is_key = line.size() > 1 && line[0] == '#' && line[1] != ' ';
    uncommented += (is_key ? line.substr(1) : line) + "\n";
    at = end + 1;
  }
  // The examples of the lists do not fit together (they name files and roles that are not there); their keys
  // must.
  for (const Problem& problem : loading.load(uncommented).problems) {
    EXPECT_EQ(problem.message.find("unknown key"), std::string::npos) << to_string(problem);
    EXPECT_EQ(problem.message.find("\" is not "), std::string::npos) << to_string(problem);
  }
}

TEST(Documents, ExampleUserlistHoldsNoUser) {
  Problems problems;
  const Loading loading;
  loading.folder().write("example", source_file("conf/userlist.txt.example"));
  const LoadOutcome outcome = loading.load("replicas: [a]\nauth_file: example\n");
  ASSERT_TRUE(outcome.config) << text_of(outcome.problems);
  EXPECT_TRUE(outcome.config->users.empty());
}

TEST(EffectiveValues, ReadBackAsTheSameConfiguration) {
  const Loading loading;
  const LoadOutcome first = loading.load_with(
      "rules: [{user: [\"a b\", \"c,d\"], network: [10.0.0.0/8, \"::/0\", unix], class: premium}]\n"
      "hosts: [{name: h, networks: fd00::/8}]\nquery_wait_timeout: 90s\nserver_reset_query: \"SELECT "
      "':\\\"#'\"\n"
      "databases: [{name: \"*\"}, {name: rw, target: primary}]\nhealth_check_interval: 1500\n");
  ASSERT_TRUE(first.config) << text_of(first.problems);
  const LoadOutcome again = loading.load(effective_values(*first.config));
  ASSERT_TRUE(again.config) << text_of(again.problems) << effective_values(*first.config);
  const std::vector<Change> changes = diff(*first.config, *again.config);
  for (const Change& change : changes)
    ADD_FAILURE() << change.key << ": " << change.from << " -> " << change.to;
}

TEST(ShowConfig, HasPgBouncersColumnsWithBareValues) {
  const LoadOutcome outcome = Loading().load_with("query_wait_timeout: 1min\nadmin_users: [scram, x]\n");
  ASSERT_TRUE(outcome.config);
  bool seen = false;
  for (const ShownOption& row : show_config(*outcome.config)) {
    if (row.key == "admin_users") {
      EXPECT_EQ(row.value, "scram,x");
    }
    if (row.key == "listen_port") {
      EXPECT_FALSE(row.changeable);
    }
    if (row.key != "query_wait_timeout") continue;
    seen = true;
    EXPECT_EQ(row.value, "60");
    EXPECT_EQ(row.fallback, "120");
    EXPECT_TRUE(row.changeable);
  }
  EXPECT_TRUE(seen);
}

TEST(CheckReport, CountsProblemsAndShowsValuesOnlyWhenValid) {
  const Loading loading;
  const std::string good = check_report(loading.load_with(""), "f");
  EXPECT_NE(good.find("f: 0 errors, 0 warnings\n"), std::string::npos);
  EXPECT_NE(good.find("\nlisten_port: 6432\n"), std::string::npos);
  const std::string bad = check_report(loading.load_with("x: 1\n"), "f");
  EXPECT_NE(bad.find("f: 1 error, 0 warnings\n"), std::string::npos);
  EXPECT_EQ(bad.find("listen_port"), std::string::npos);
}

TEST(CheckReport, HoldsNoSecret) {
  const Loading loading;
  const LoadOutcome outcome =
      loading.load("replicas: [a]\nauth_file: users\nserver_user: s\nserver_password_file: password\n");
  ASSERT_TRUE(outcome.config) << text_of(outcome.problems);
  const std::string report = check_report(outcome, "f");
  for (const char* const secret : {"sesame", "\"secret\"", "AAAAAAAA", "0123456789abcdef"})
    EXPECT_EQ(report.find(secret), std::string::npos) << secret;
}

}  // namespace
}  // namespace sluice::config
