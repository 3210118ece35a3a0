// Who waits for a slot, and how it is handed over.

#include <atomic>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sluice/policy/rng.h"
#include "sluice/policy/size_intervals.h"

#include "tests/router/admission_fixture.h"

namespace sluice::router {
namespace {

using namespace std::chrono_literals;
using test::HeldWaiter;

policy::PoolConfig pools(std::int64_t max_active, std::size_t replica_count = 2) {
  policy::PoolConfig config;
  config.policy = policy::PolicyKind::LeastLoaded;
  for (const char* name : {"premium", "freemium"})
    config.classes.emplace_back().name = name;
  for (std::size_t i = 0; i < replica_count; ++i) {
    config.replicas.emplace_back().name = std::string(1, static_cast<char>('a' + i));
    config.replicas.back().max_active = max_active;
  }
  return config;
}

// A session, and what it asks for.
struct Client {
  explicit Client(Admission& table, std::uint32_t priority = 0, std::string user = "alice",
                  std::string database = "app")
      : admission(table) {
    tag.user = std::move(user);
    tag.database = std::move(database);
    tag.priority = policy::ClassId(priority);
    EXPECT_EQ(admission.enter(tag), std::nullopt);
  }
  ~Client() { admission.leave(tag); }

  // "granted", "queued", or the limit.
  std::string ask(Servers servers = Servers::Replicas, std::span<const Granted> finished = {}) {
    Admission::Answer answer = admission.ask(tag, waiter, {}, servers, {}, finished);
    if (const auto* rejected = std::get_if<Admission::Rejected>(&answer)) return rejected->limit;
    if (std::holds_alternative<Admission::Queued>(answer)) return "queued";
    waiter.granted(std::get<Granted>(std::move(answer)));
    return "granted";
  }
  std::string ask_having_finished(Client& other) {
    const std::vector<Granted> finished = std::exchange(other.waiter.slots, {});
    return ask(Servers::Replicas, finished);
  }
  bool served() const { return !waiter.slots.empty(); }
  void close() {
    ASSERT_TRUE(served());
    const Granted slot = waiter.slots.back();
    waiter.slots.pop_back();
    admission.close(slot);
  }

  Admission& admission;
  SessionTag tag;
  HeldWaiter waiter;
};

TEST(AdmissionQueues, HandAFreedSlotToTheNext) {
  Admission admission(pools(1, 1), {});
  Client first(admission), second(admission), third(admission);
  EXPECT_EQ(first.ask(), "granted");
  EXPECT_TRUE(first.waiter.slots[0].limited);
  EXPECT_EQ(second.ask(), "queued");
  EXPECT_EQ(third.ask(), "queued");
  EXPECT_EQ(admission.waiting()[0].waiting, 2U);
  first.close();
  EXPECT_TRUE(second.served());
  EXPECT_FALSE(third.served());
  EXPECT_FALSE(admission.withdraw(second.waiter)) << "it has its slot";
  EXPECT_TRUE(admission.withdraw(third.waiter));
  second.close();
  EXPECT_FALSE(third.served());
  EXPECT_EQ(admission.snapshot().replicas[0].total_load, 0);
  EXPECT_EQ(admission.decisions().size(), 2U) << "who waits has not been decided about";
}

TEST(AdmissionQueues, AreServedWhenThereAreMoreSlots) {
  Admission admission(pools(1), {});
  admission.set_up(policy::ReplicaId(1), false);
  Client first(admission), second(admission), third(admission), fourth(admission);
  EXPECT_EQ(first.ask(), "granted");
  EXPECT_EQ(second.ask(), "queued");
  admission.set_up(policy::ReplicaId(1), true);
  EXPECT_TRUE(second.served());
  EXPECT_EQ(third.ask(), "queued");
  EXPECT_EQ(fourth.ask(), "queued");
  admission.set_draining("b", true);
  second.close();
  EXPECT_FALSE(third.served());
  admission.set_draining("b", false);
  EXPECT_TRUE(third.served());
  admission.reconfigure(pools(2), {});
  EXPECT_TRUE(fourth.served());
  for (Client* client : {&first, &third, &fourth})
    client->close();
}

TEST(AdmissionQueues, ServeThePrimaryApart) {
  AdmissionLimits limits;
  limits.primary_active = 1;
  Admission admission(pools(1, 1), limits);
  Client reader(admission), writer(admission), next(admission);
  EXPECT_EQ(reader.ask(), "granted");
  EXPECT_EQ(writer.ask(Servers::Primary), "granted");
  EXPECT_EQ(writer.waiter.slots[0].server(), kPrimary);
  EXPECT_EQ(next.ask(Servers::Primary), "queued");
  reader.close();
  EXPECT_FALSE(next.served());
  EXPECT_EQ(admission.primary_active(), 1);
  writer.close();
  EXPECT_TRUE(next.served());
  next.close();
  EXPECT_EQ(admission.decisions().size(), 1U);
}

TEST(AdmissionQueues, FailFastAtTheirLimits) {
  AdmissionLimits limits;
  limits.waiting = 2;
  limits.waiting_of_class = {{"freemium", 1}};
  Admission admission(pools(1, 1), limits);
  Client holder(admission), a(admission, 1), b(admission, 1), c(admission), d(admission);
  EXPECT_EQ(holder.ask(), "granted");
  EXPECT_EQ(a.ask(), "queued");
  EXPECT_EQ(b.ask(), "max_waiting of class freemium");
  EXPECT_EQ(c.ask(), "queued");
  EXPECT_EQ(d.ask(), "max_waiting");
  for (Client* client : {&a, &c})
    EXPECT_TRUE(admission.withdraw(client->waiter));
  holder.close();
}

TEST(AdmissionQueues, KeepToTheServerConnectionsOfADatabaseAndAUser) {
  AdmissionLimits limits;
  limits.servers_per_user = 2;
  limits.servers_per_database = [](std::string_view name) { return name == "small" ? std::size_t{1} : 0; };
  Admission admission(pools(0), limits);
  Client a(admission, 0, "alice", "small"), b(admission, 0, "bob", "small"), c(admission, 0, "alice", "app"),
      d(admission, 0, "alice", "app");
  EXPECT_EQ(a.ask(), "granted");
  EXPECT_TRUE(a.waiter.slots[0].limited);
  EXPECT_EQ(b.ask(), "queued") << "max_db_connections";
  EXPECT_EQ(c.ask(), "granted");
  EXPECT_EQ(d.ask(), "queued") << "max_user_connections";
  c.close();
  EXPECT_TRUE(d.served());
  EXPECT_FALSE(b.served());
  a.close();
  EXPECT_TRUE(b.served());
  b.close();
  d.close();
}

// Guards against limits that held only for those who came after them.
TEST(AdmissionQueues, KeepThoseWhoWaitAlreadyToLimitsThatAReloadBrings) {
  Admission admission(pools(1, 1), {});
  Client holder(admission), first(admission), second(admission), other(admission, 0, "bob");
  EXPECT_EQ(holder.ask(), "granted");
  for (Client* client : {&first, &second, &other})
    EXPECT_EQ(client->ask(), "queued");
  AdmissionLimits limits;
  limits.servers_per_user = 1;
  admission.reconfigure(pools(4, 1), limits);
  EXPECT_FALSE(first.served());
  EXPECT_TRUE(other.served());
  EXPECT_EQ(admission.waits_for(first.waiter), "max_user_connections");
  holder.close();
  EXPECT_TRUE(first.served()) << "it kept its place";
  EXPECT_FALSE(second.served());
  admission.reconfigure(pools(4, 1), {});
  EXPECT_TRUE(second.served());
  for (Client* client : {&first, &second, &other})
    client->close();
}

TEST(AdmissionQueues, TakeBackWhatIsFinishedBeforeTheyAnswer) {
  Admission admission(pools(1, 1), {});
  Client first(admission), second(admission), third(admission);
  EXPECT_EQ(first.ask(), "granted");
  EXPECT_EQ(second.ask(), "queued");
  EXPECT_EQ(third.ask_having_finished(first), "queued") << "it does not overtake";
  EXPECT_TRUE(second.served());
  EXPECT_EQ(first.ask_having_finished(second), "queued");
  EXPECT_TRUE(third.served());
  third.close();
  EXPECT_TRUE(first.served());
  first.close();
  EXPECT_EQ(admission.snapshot().replicas[0].total_load, 0);
}

TEST(AdmissionQueues, MayOutliveTheSessionWhileItsServerIsCleaned) {
  Admission admission(pools(1, 1), {});
  Client next(admission);
  std::optional<Granted> slot;
  {
    Client gone(admission, 0, "bob");
    EXPECT_EQ(gone.ask(), "granted");
    slot = gone.waiter.slots[0];
  }
  EXPECT_EQ(next.ask(), "queued");
  admission.close(*slot);
  EXPECT_TRUE(next.served());
  next.close();
}

TEST(AdmissionQueues, RefuseWhoIsBeyondItsBudgetAndWouldHaveToWait) {
  AdmissionLimits limits;
  limits.budgets = {{"batch", policy::BudgetMode::Enforce, *Ratio::parse("0.25"), Ratio()}};
  std::chrono::nanoseconds now{1s};
  Admission admission(pools(2), limits, [&] { return now; });
  std::vector<std::unique_ptr<Client>> batch;
  for (int i = 0; i < 5; ++i) {
    batch.push_back(std::make_unique<Client>(admission, 1));
    batch.back()->tag.budget = admission.find_budget("batch");
  }
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(batch[static_cast<std::size_t>(i)]->ask(), "granted") << "idle capacity is borrowed";
  EXPECT_EQ(batch[4]->ask(), "budget batch");
  Client other(admission);
  EXPECT_EQ(other.ask(), "queued");
  for (std::size_t i = 0; i < 4; ++i)
    batch[i]->close();
  EXPECT_TRUE(other.served());
  EXPECT_EQ(admission.budgets()[0].refused, 1U);
  EXPECT_EQ(admission.budgets()[0].active, 0);
  limits.budgets[0].mode = policy::BudgetMode::Warn;
  admission.reconfigure(pools(2), limits);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(batch[static_cast<std::size_t>(i)]->ask(), "granted");
  EXPECT_EQ(batch[4]->ask(), "queued");
  EXPECT_EQ(admission.budgets()[0].would_be_refused, 1U);
  EXPECT_EQ(admission.budgets()[0].waiting, 1);
  other.close();
  EXPECT_TRUE(batch[4]->served());
  for (std::size_t i : {0U, 1U, 2U, 4U})
    batch[i]->close();
}

// Blocks its thread until the slot comes.
class BlockedWaiter final : public Waiter {
 public:
  void granted(Granted slot) noexcept override {
    const std::lock_guard lock(mutex_);
    slot_ = std::move(slot);
    came_.notify_one();
  }
  std::optional<Granted> wait(std::chrono::microseconds at_most) {
    std::unique_lock lock(mutex_);
    came_.wait_for(lock, at_most, [&] { return slot_.has_value(); });
    return std::exchange(slot_, std::nullopt);
  }
  Granted arrival() {
    std::unique_lock lock(mutex_);
    came_.wait(lock, [&] { return slot_.has_value(); });
    return *std::exchange(slot_, std::nullopt);
  }

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  std::optional<Granted> slot_;
};

TEST(AdmissionQueues, CountAnUnlimitedPrimaryAsSlotsWithoutNumber) {
  AdmissionLimits limits;
  limits.budgets = {{"reports", policy::BudgetMode::Enforce, *Ratio::parse("0.5"), Ratio()}};
  const auto asked_by_a_second = [&](std::optional<std::size_t> primary_active) {
    limits.primary_active = primary_active;
    Admission admission(pools(1, 1), limits);
    Client holder(admission), second(admission);
    for (Client* client : {&holder, &second})
      client->tag.budget = admission.find_budget("reports");
    EXPECT_EQ(holder.ask(), "granted");
    const std::string answer = second.ask();
    if (answer == "queued") {
      EXPECT_TRUE(admission.withdraw(second.waiter));
    }
    holder.close();
    return answer;
  };
  EXPECT_EQ(asked_by_a_second(std::nullopt), "budget reports") << "there is no primary, and one slot";
  EXPECT_EQ(asked_by_a_second(0), "queued") << "the primary has no limit";
  EXPECT_EQ(asked_by_a_second(3), "queued") << "half of four slots";
}

TEST(AdmissionQueues, LoseAndDoubleNoSlotWhenManyThreadsUseThem) {
  constexpr std::int64_t kSlots = 2;
  AdmissionLimits limits;
  limits.ageing = 1ms;
  limits.servers_per_user = 3;
  Admission admission(pools(kSlots), limits);
  std::array<std::atomic<int>, 2> busy{};
  std::atomic<int> uses = 0;
  const auto use = [&](const Granted& slot) {
    EXPECT_LE(++busy[slot.replica.value()], kSlots);
    ++uses;
    --busy[slot.replica.value()];
    admission.close(slot);
  };
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < 6; ++t)
    threads.emplace_back([&, t] {
      Client client(admission, t % 2, "user" + std::to_string(t % 3));
      for (int i = 0; i < 400; ++i) {
        BlockedWaiter waiter;
        Admission::Answer answer = admission.ask(client.tag, waiter);
        if (const auto* slot = std::get_if<Granted>(&answer)) {
          use(*slot);
        } else if (std::holds_alternative<Admission::Queued>(answer)) {
          std::optional<Granted> late = waiter.wait(std::chrono::microseconds(i % 50));
          if (!late && !admission.withdraw(waiter)) late = waiter.arrival();
          if (late) use(*late);
        }
      }
    });
  for (int i = 0; i < 200; ++i) {
    admission.set_up(policy::ReplicaId(0), i % 3 != 0);
    admission.set_draining("b", i % 5 == 0);
    (void)admission.waiting();
    (void)admission.snapshot();
    if (i % 50 == 0) admission.reconfigure(pools(kSlots), limits);
  }
  admission.set_up(policy::ReplicaId(0), true);
  admission.set_draining("b", false);
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_GT(uses, 0);
  for (const policy::ReplicaSnapshot& replica : admission.snapshot().replicas)
    EXPECT_EQ(replica.total_load, 0);
  for (const Admission::ClassWaiting& row : admission.waiting())
    EXPECT_EQ(row.waiting, 0U);
}

// A search for cutoffs takes a millisecond, in which nobody else got a slot.
class SizeSearch : public testing::Test {
 protected:
  static policy::PoolConfig config() {
    policy::PoolConfig made = pools(1);
    made.order = policy::ReplicaOrder::SitaV;
    return made;
  }
  SizeSearch() : admission(config(), {}), client(admission) {
    admission.set_search_due([this] {
      ++due;
      (void)admission.snapshot();  // takes the lock
    });
    searched.set_rule(policy::IntervalRule::LeastSlowdown);
    policy::Rng rng(3);
    for (std::uint64_t i = 0; i < policy::SizeIntervals::kKnownFrom; ++i) {
      const double size = 0.001 / std::pow(static_cast<double>(1 + rng.below(1000)) / 1000, 0.7);
      for (policy::SizeIntervals* const sizes : {&equal, &searched})
        sizes->add(size, 0);
      client.tag.size = size;
      EXPECT_EQ(client.ask(), "granted");
      client.close();
    }
  }
  double cutoff() const { return admission.size_pools().at(0).intervals.at(0).interval.to; }
  static double cutoff(const policy::SizeIntervals& sizes) { return sizes.intervals(kTwo)[0].to; }

  static inline const std::vector<std::int64_t> kTwo{1, 1};
  int due = 0;
  Admission admission;
  Client client;
  policy::SizeIntervals equal, searched;
};

TEST_F(SizeSearch, IsAskedForOnceAndMadeOutsideOfTheLock) {
  EXPECT_EQ(due, 1);
  EXPECT_EQ(client.ask(), "granted");
  client.close();
  EXPECT_EQ(due, 1) << "it has been told";
  ASSERT_NE(cutoff(equal), cutoff(searched));
  EXPECT_EQ(cutoff(), cutoff(equal));
  admission.search_sizes();
  EXPECT_EQ(cutoff(), cutoff(searched));
}

TEST_F(SizeSearch, LetsGoWhoWaitedForAReplicaOfOtherSizes) {
  const auto host = [](const policy::SizeIntervals& sizes, double size) {
    const auto range = sizes.range(policy::size_step(size), kTwo);
    return range.first == range.last ? std::optional(range.first) : std::nullopt;
  };
  double size = 0.001;
  while (size < 1 &&
         !(host(equal, size) && host(searched, size) && host(equal, size) != host(searched, size)))
    size *= 1.1;
  ASSERT_LT(size, 1);
  Client waiting(admission);
  client.tag.size = waiting.tag.size = size;
  EXPECT_EQ(client.ask(), "granted");
  EXPECT_EQ(waiting.ask(), "queued") << "the other replica is free, but for other sizes";
  admission.search_sizes();
  EXPECT_TRUE(waiting.served());
  waiting.close();
  client.close();
}

}  // namespace
}  // namespace sluice::router
