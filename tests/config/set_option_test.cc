#include "config/set_option.h"

#include <algorithm>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "tests/config/loading.h"

namespace sluice::config {
namespace {

using Refusal = SetOutcome::Refusal;

class SetOption : public testing::Test {
 protected:
  std::shared_ptr<const Config> usual(const std::string& more = "") const {
    const LoadOutcome outcome = loading_.load_with(more);
    EXPECT_TRUE(outcome.config) << text_of(outcome.problems);
    return outcome.config;
  }
  Loading loading_;
};

TEST_F(SetOption, ChangesOneOptionAndNothingElse) {
  const auto before = usual();
  const SetOutcome outcome = with_option(*before, "query_timeout", "5min");
  ASSERT_TRUE(outcome.config) << outcome.message;
  EXPECT_EQ(outcome.config->options.query_timeout, std::chrono::minutes(5));
  EXPECT_EQ(before->options.query_timeout, std::chrono::seconds(0));
  EXPECT_EQ(outcome.config->replicas.size(), 3U);
  EXPECT_TRUE(outcome.warnings.empty());
}

TEST_F(SetOption, TakesDefaultForTheDefault) {
  const auto before = usual("query_timeout: 9\nstats_users: [a, b]\n");
  EXPECT_EQ(with_option(*before, "query_timeout", "default").config->options.query_timeout.count(), 0);
  EXPECT_TRUE(with_option(*before, "stats_users", "").config->options.stats_users.empty());
}

TEST_F(SetOption, ReadsListsAsTheFileDoes) {
  const SetOutcome outcome = with_option(*usual(), "admin_users", "anna, otto");
  ASSERT_TRUE(outcome.config);
  EXPECT_EQ(outcome.config->options.admin_users, (std::vector<std::string>{"anna", "otto"}));
}

TEST_F(SetOption, RefusesWhatIsNoOptionNeedsARestartOrIsNoValue) {
  const auto config = usual();
  const SetOutcome unknown = with_option(*config, "querry_timeout", "5");
  EXPECT_EQ(unknown.refusal, Refusal::UnknownKey);
  EXPECT_EQ(unknown.hint, "Did you mean query_timeout?");
  EXPECT_FALSE(unknown.config);
  EXPECT_EQ(with_option(*config, "listen_port", "5").refusal, Refusal::NeedsRestart);
  for (const auto* value : {"-1", "fast", "99999999999999999999", "5 5"}) {
    const SetOutcome bad = with_option(*config, "query_timeout", value);
    EXPECT_EQ(bad.refusal, Refusal::BadValue) << value;
    EXPECT_NE(bad.message.find("query_timeout"), std::string::npos) << bad.message;
  }
}

TEST_F(SetOption, RefusesWhatContradictsTheRest) {
  const SetOutcome outcome = with_option(*usual(), "default_class", "nosuch");
  EXPECT_EQ(outcome.refusal, Refusal::BadValue);
  EXPECT_NE(outcome.message.find("nosuch"), std::string::npos) << outcome.message;
}

TEST_F(SetOption, DrawsTheRuleOfAuthTypeAgainUnlessRulesAreGiven) {
  const SetOutcome outcome = with_option(*usual(), "auth_type", "md5");
  ASSERT_TRUE(outcome.config) << outcome.message;
  ASSERT_EQ(outcome.config->hba.size(), 1U);
  EXPECT_EQ(outcome.config->hba[0].method, AuthMethod::Md5);
  const auto listed = usual("hba: [{user: scram, method: scram-sha-256}, {method: scram-sha-256}]\n");
  EXPECT_EQ(with_option(*listed, "auth_type", "md5").config->hba[0].method, AuthMethod::ScramSha256);
}

TEST_F(SetOption, ReadsTheFileThatItNames) {
  EXPECT_EQ(find_user(*usual(), "hash"), nullptr);
  const SetOutcome outcome = with_option(*usual(), "auth_file", "users");
  ASSERT_TRUE(outcome.config) << outcome.message;
  EXPECT_NE(find_user(*outcome.config, "hash"), nullptr);
  EXPECT_FALSE(outcome.warnings.empty()) << "it holds plain passwords";
  EXPECT_EQ(with_option(*usual(), "auth_file", "/nonexistent/users").refusal, Refusal::BadValue);
}

// Each SET used to leave its warnings behind, the same ones again and again.
TEST_F(SetOption, LeavesNoWarningBehindThatHoldsNoMore) {
  const auto config = usual();
  const std::size_t before = config->warnings.size();
  auto current = config;
  for (int i = 0; i < 3; ++i) {
    current = with_option(*current, "admin_users", "nobody_that_is_known").config;
    ASSERT_TRUE(current);
    EXPECT_EQ(current->warnings.size(), before + 1) << text_of(current->warnings);
    current = with_option(*current, "query_timeout", std::to_string(i + 1)).config;
    ASSERT_TRUE(current);
    EXPECT_EQ(current->warnings.size(), before + 1);
    current = with_option(*current, "auth_file", "users").config;
    ASSERT_TRUE(current);
    current = with_option(*current, "auth_file", config->options.auth_file).config;
    ASSERT_TRUE(current);
    EXPECT_EQ(current->warnings.size(), before + 1) << text_of(current->warnings);
    current = with_option(*current, "admin_users", "default").config;
    ASSERT_TRUE(current);
    EXPECT_EQ(current->warnings.size(), before) << text_of(current->warnings);
  }
}

TEST_F(SetOption, SettlesAWarningOfTheFile) {
  const auto config = usual("health_check_interval: 1s\nhealth_check_timeout: 5s\n");
  const auto about = [](const Config& one) {
    return std::count_if(one.warnings.begin(), one.warnings.end(),
                         [](const Problem& problem) { return problem.key == "health_check_timeout"; });
  };
  EXPECT_EQ(about(*config), 1);
  const SetOutcome settled = with_option(*config, "health_check_timeout", "500ms");
  ASSERT_TRUE(settled.config) << settled.message;
  EXPECT_EQ(about(*settled.config), 0);
}

}  // namespace
}  // namespace sluice::config
