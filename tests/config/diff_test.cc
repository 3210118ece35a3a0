#include "config/diff.h"

#include <gtest/gtest.h>

#include "tests/config/loading.h"

namespace sluice::config {
namespace {

std::vector<Change> change_from_base(const Loading& loading, std::string_view more) {
  const LoadOutcome before = loading.load_with("");
  const LoadOutcome after = loading.load_with(more);
  EXPECT_TRUE(after.config) << text_of(after.problems);
  return before.config && after.config ? diff(*before.config, *after.config) : std::vector<Change>{};
}

TEST(Diff, FindsNothingBetweenEquals) {
  EXPECT_TRUE(change_from_base(Loading(), "# comment\n").empty());
}

TEST(Diff, NamesKeyAndValues) {
  const std::vector<Change> changes = change_from_base(Loading(), "query_wait_timeout: 7\n");
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].key, "query_wait_timeout");
  EXPECT_EQ(changes[0].from, "2min");
  EXPECT_EQ(changes[0].to, "7s");
  EXPECT_TRUE(needing_restart(changes).empty());
}

TEST(Diff, SaysWhatNeedsARestart) {
  const std::vector<Change> changes =
      change_from_base(Loading(), "threads: 3\nlog_level: debug\nlisten_port: 7000\n");
  std::vector<std::string> keys;
  for (const Change& change : needing_restart(changes))
    keys.push_back(change.key);
  EXPECT_EQ(keys, (std::vector<std::string>{"listen_port", "threads", "listeners"}));
}

TEST(Diff, ComparesLists) {
  const std::vector<Change> changes = change_from_base(Loading(), "rules: [{user: a, class: premium}]\n");
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].key, "rules");
  EXPECT_EQ(changes[0].apply, Apply::OnReload);
}

TEST(Diff, SeesOtherContentsOfTheSameFiles) {
  const Loading loading;
  const LoadOutcome before = loading.load_with("server_user: s\nserver_password_file: password\n");
  loading.folder().write("password", "other\n");
  loading.folder().write("verifiers", "\"new\" \"\"\n");
  const LoadOutcome after = loading.load_with("server_user: s\nserver_password_file: password\n");
  ASSERT_TRUE(before.config && after.config);
  const std::vector<Change> changes = diff(*before.config, *after.config);
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0].key, "auth_file");
  EXPECT_EQ(changes[1].key, "server_password_file");
  EXPECT_EQ(changes[1].to.find("other\n"), std::string::npos);
}

}  // namespace
}  // namespace sluice::config
