#include "pooling/pending_listens.h"

#include <string>

#include <gtest/gtest.h>

namespace sluice::pooling {
namespace {

class Pending : public testing::Test {
 protected:
  void listen(const std::string& channel) { pending.add({SqlAction::Listen, channel}); }
  std::string committed() {
    std::vector<ListenChange> changes;
    pending.commit(changes);
    std::string out;
    for (const ListenChange& change : changes)
      out += change.channel;
    return out;
  }
  PendingListens pending;
};

TEST_F(Pending, KeepsItsOrderAndCommitsOnce) {
  listen("a");
  listen("b");
  EXPECT_EQ(committed(), "ab");
  EXPECT_EQ(committed(), "");
}

TEST_F(Pending, RollsBackToTheLatestSavepointOfAName) {
  listen("a");
  pending.savepoint("s");
  listen("b");
  pending.savepoint("s");
  listen("c");
  pending.rollback_to("s");
  listen("d");
  pending.rollback_to("s");
  pending.release("s");
  pending.rollback_to("s");
  EXPECT_EQ(committed(), "a");
}

TEST_F(Pending, ReleasesWithASavepointThoseBehindIt) {
  listen("a");
  pending.savepoint("s");
  listen("b");
  pending.savepoint("t");
  listen("c");
  pending.release("s");
  pending.rollback_to("s");
  EXPECT_EQ(committed(), "") << "one of before the first LISTEN, as no other is left";
}

TEST_F(Pending, ReleasesAllWithASavepointOfBeforeTheFirstListen) {
  pending.savepoint("s");
  pending.savepoint("o");
  listen("a");
  pending.savepoint("s");
  listen("b");
  pending.release("o");
  pending.rollback_to("s");
  EXPECT_EQ(committed(), "") << "the s that is left is the first";
}

TEST_F(Pending, HasABoundForSavepoints) {
  listen("a");
  for (std::size_t i = 0; i <= PendingListens::kSavepointsMax; ++i)
    pending.savepoint(std::to_string(i));
  listen("b");
  pending.rollback_to("1");
  EXPECT_EQ(committed(), "a");
}

}  // namespace
}  // namespace sluice::pooling
