#include "sim/replica_group.h"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::sim {
namespace {

using Answer = ReplicaGroup::Answer;

// Two replicas that take intervals of sizes, with a slot each.
class GroupBySize : public testing::Test {
 protected:
  static policy::PoolConfig config() {
    policy::PoolConfig made;
    made.policy = policy::PolicyKind::LeastLoaded;
    made.order = policy::ReplicaOrder::SitaE;
    made.classes = {{"one", 4, *Ratio::parse("0.5"), 0, 2}};
    made.replicas = {{"a", {}, 1, 1}, {"b", {}, 1, 1}};
    return made;
  }
  ReplicaGroup::Asked ask(double size) {
    Job job;
    job.size = size;
    return group.ask(0, ++asked, policy::ClassId(0), job);
  }
  void come_and_go(double size) {
    const ReplicaGroup::Asked guest = ask(size);
    ASSERT_EQ(guest.answer, Answer::Granted);
    group.leave(0, *guest.guest);
  }

  ReplicaGroup group{config(), {}};
  std::uint32_t asked = 0;
};

// Was: the newcomer that told so much of sizes had the slot, and the waiter stood.
TEST_F(GroupBySize, LetsAWaiterGoThatANewcomersSizeMakesRoomFor) {
  while (asked < 64)
    come_and_go(asked % 11 == 0 ? 0.1 : 0.01);  // half of the work each: the larger ones are b's
  while (asked < 125)
    come_and_go(1);
  const ReplicaGroup::Asked holder = ask(0.1), waiter = ask(0.1);
  ASSERT_EQ(holder.answer, Answer::Granted);
  ASSERT_EQ(waiter.answer, Answer::Queued) << "a is free, but for smaller ones";
  // The 128th: by now 0.1 is small, and a's; 1 is both's.
  const ReplicaGroup::Asked newcomer = ask(1);
  EXPECT_EQ(newcomer.answer, Answer::Queued);
  EXPECT_EQ(group.take_granted(), std::vector<ReplicaGroup::Guest*>{waiter.guest});
}

}  // namespace
}  // namespace sluice::sim
