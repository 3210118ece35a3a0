#include "router/slot_request.h"

#include <memory>
#include <optional>
#include <vector>

#include <asio/io_context.hpp>
#include <gtest/gtest.h>

#include "tests/router/admission_fixture.h"

namespace sluice::router {
namespace {

policy::PoolConfig one_replica(std::int64_t max_active) {
  policy::PoolConfig config;
  config.policy = policy::PolicyKind::LeastLoaded;
  config.classes.emplace_back().name = "premium";
  config.replicas = {{"a", std::nullopt, 1, max_active}};
  return config;
}

struct Owner final : SlotRequest::Owner {
  void slot_granted(Granted slot) override { slots.push_back(std::move(slot)); }
  std::vector<Granted> slots;
};

struct SlotWorld {
  explicit SlotWorld(std::int64_t max_active) : admission(one_replica(max_active), {}) {
    tag.user = "alice";
    EXPECT_EQ(admission.enter(tag), std::nullopt);
  }
  ~SlotWorld() { admission.leave(tag); }

  std::optional<Granted> ask() {
    SlotRequest* waiting = nullptr;
    Admission::Answer answer = requests->ask(tag, {}, Servers::Replicas, {}, owner, waiting);
    if (auto* const granted = std::get_if<Granted>(&answer)) return std::move(*granted);
    return std::nullopt;
  }
  std::int64_t load() const { return admission.snapshot().replicas[0].total_load; }

  Admission admission;
  SessionTag tag;
  Owner owner;
  asio::io_context io{1};
  std::unique_ptr<SlotRequests> requests = std::make_unique<SlotRequests>(io.get_executor(), admission);
};

TEST(SlotRequests, GiveASlotBackWithTheNextRequest) {
  SlotWorld world(0);
  auto first = world.ask();
  ASSERT_TRUE(first);
  world.requests->close(*std::move(first));
  EXPECT_EQ(world.load(), 1);
  auto second = world.ask();
  ASSERT_TRUE(second);
  EXPECT_EQ(world.load(), 1) << "the first is back, the second out";
  world.requests->close(*std::move(second));
  world.io.run();
  EXPECT_EQ(world.load(), 0) << "nobody asked any more";
}

TEST(SlotRequests, GiveASlotBackAtOnceWhereOthersMayWaitForIt) {
  SlotWorld world(1);
  auto first = world.ask();
  ASSERT_TRUE(first);
  EXPECT_FALSE(world.ask());
  world.requests->close(*std::move(first));
  world.io.run();
  ASSERT_EQ(world.owner.slots.size(), 1U);
  world.requests->close(std::move(world.owner.slots[0]));
  EXPECT_EQ(world.load(), 0);
}

TEST(SlotRequests, KeepBackNoMoreThanABoundedNumber) {
  SlotWorld world(0);
  std::vector<Granted> slots;
  for (int i = 0; i < 100; ++i)
    slots.push_back(*world.ask());
  for (Granted& slot : slots)
    world.requests->close(std::move(slot));
  EXPECT_LT(world.load(), 64);
  world.requests.reset();
  EXPECT_EQ(world.load(), 0) << "what is left goes with the thread";
}

}  // namespace
}  // namespace sluice::router
