// Short histories, worked by hand.

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/limited_server.h"
#include "sim/preemptive_server.h"

namespace sluice::sim {
namespace {

struct Arrival {
  double at, size;
  std::uint32_t rank = 0;
};
struct End {
  std::uint32_t id;
  double at;
};

// Jobs are numbered from 0 in the order given. The ends in the order in which they happen.
std::vector<End> serve(Server& server, const std::vector<Arrival>& arrivals) {
  std::vector<End> ends;
  std::size_t next = 0;
  while (next < arrivals.size() || server.next_event() < kNever) {
    const double due = server.next_event();
    if (next < arrivals.size() && arrivals[next].at < due) {
      const Arrival& a = arrivals[next];
      server.arrive(a.at, {a.at, a.size, a.rank, static_cast<std::uint32_t>(next)});
      ++next;
    } else if (const auto ended = server.step()) {
      ends.push_back({ended->id, due});
    }
  }
  EXPECT_EQ(server.job_count(), 0U);
  return ends;
}

std::vector<End> serve(const SharingServer::Settings& settings, const std::vector<Arrival>& arrivals) {
  SharingServer server(settings);
  return serve(server, arrivals);
}

std::vector<End> serve(const LimitedServer::Settings& settings, const std::vector<Arrival>& arrivals) {
  LimitedServer server(settings);
  return serve(server, arrivals);
}

std::vector<End> serve(PreemptiveOrder order, double quantum, const std::vector<Arrival>& arrivals) {
  PreemptiveServer server(order, quantum);
  return serve(server, arrivals);
}

void expect(const std::vector<End>& got, const std::vector<End>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i].id, want[i].id) << "end " << i;
    EXPECT_NEAR(got[i].at, want[i].at, 1e-12) << "end " << i;
  }
}

TEST(SharingServer, SharesOneCoreEvenly) {
  // 0 alone until 1, then half of the core each: 1 ends at 3, 0 at 4.
  expect(serve(SharingServer::Settings{}, {{0, 3}, {1, 1}}), {{1, 3}, {0, 4}});
}

TEST(SharingServer, UsesNoMoreThanItsShareOfManyCores) {
  // 4 cores, at most 2 per job: one or two jobs run at 2 each, three at 4/3.
  expect(serve(SharingServer::Settings{.cores = 4, .cores_per_job = 2}, {{0, 8}, {0, 4}, {1, 4}}),
         {{1, 2.5}, {2, 3.5}, {0, 4.5}});
}

TEST(LimitedServer, FirstComeFirstServedWithOneActive) {
  expect(serve(LimitedServer::Settings{.active_max = 1}, {{0, 3}, {1, 2}, {2, 1}}), {{0, 3}, {1, 5}, {2, 6}});
}

TEST(LimitedServer, ServesClassesInOrderAndEqualsAsTheyCame) {
  expect(serve(LimitedServer::Settings{.active_max = 1, .classes = 2},
               {{0, 2, 1}, {0.5, 1, 1}, {1, 1, 0}, {1.5, 1, 0}, {1.6, 1, 1}}),
         {{0, 2}, {2, 3}, {3, 4}, {1, 5}, {4, 6}});
}

TEST(LimitedServer, ServesTheSmallestFirstAndDoesNotInterrupt) {
  expect(serve(LimitedServer::Settings{.active_max = 1, .order = policy::QueueDiscipline::ShortestFirst},
               {{0, 5}, {1, 3}, {2, 1}, {3, 3}}),
         {{0, 5}, {2, 6}, {1, 9}, {3, 12}});
}

TEST(LimitedServer, QueuesBehindTheLimitAndCountsWhatIsActive) {
  LimitedServer server({.cores = 2, .active_max = 2});
  for (std::uint32_t id = 0; id < 3; ++id)
    server.arrive(0, {0, 2, 0, id});
  EXPECT_EQ(server.job_count(), 3U);
  EXPECT_EQ(server.active_count(), 2U);
  EXPECT_DOUBLE_EQ(server.unfinished_work(1), 4);
  EXPECT_DOUBLE_EQ(server.work_done(1), 2);
  EXPECT_EQ(server.step()->id, 0U);
  EXPECT_EQ(server.active_count(), 2U);
}

TEST(PreemptiveServer, ShortestFirstDoesNotInterruptWithAChunkBeyondAnySize) {
  expect(serve(PreemptiveOrder::ShortestSize, 1e6, {{0, 5}, {1, 3}, {2, 1}, {3, 3}}),
         {{0, 5}, {2, 6}, {1, 9}, {3, 12}});
}

TEST(PreemptiveServer, ShortestRemainingInterruptsOnlyForLess) {
  // At 1 job 0 has 3 left: 2 goes first. At 2 job 1 has 1 left: 1.5 waits, as does 0.
  expect(serve(PreemptiveOrder::ShortestRemaining, 0, {{0, 4}, {1, 2}, {2, 1.5}}),
         {{1, 3}, {2, 4.5}, {0, 7.5}});
}

TEST(PreemptiveServer, ShortestSizeLooksAtTheWholeSize) {
  // At 3.5 job 0 has 0.5 left, and is interrupted nevertheless.
  expect(serve(PreemptiveOrder::ShortestSize, 0, {{0, 4}, {3.5, 2}}), {{1, 5.5}, {0, 6}});
  expect(serve(PreemptiveOrder::ShortestRemaining, 0, {{0, 4}, {3.5, 2}}), {{0, 4}, {1, 6}});
}

TEST(PreemptiveServer, PriorityResumesWhatItInterrupted) {
  // Job 0 goes on before 3, which has its rank and came while 0 was interrupted.
  expect(serve(PreemptiveOrder::Priority, 0, {{0, 4, 1}, {1, 2, 0}, {2, 1, 0}, {2.5, 1, 1}}),
         {{1, 3}, {2, 4}, {0, 7}, {3, 8}});
  // Interrupted while 1 waited: still before it.
  expect(serve(PreemptiveOrder::Priority, 0, {{0, 4, 1}, {1, 2, 1}, {2, 1, 0}}), {{2, 3}, {0, 5}, {1, 7}});
}

TEST(PreemptiveServer, AQuantumPutsTheChangeOffToTheEndOfTheChunk) {
  // Chunks of 1.5: job 1 comes at 0.5 and starts at 1.5.
  expect(serve(PreemptiveOrder::ShortestRemaining, 1.5, {{0, 4}, {0.5, 1}}), {{1, 2.5}, {0, 5}});
  // A chunk that is longer than the job does not interrupt at all: shortest first without preemption.
  expect(serve(PreemptiveOrder::ShortestRemaining, 100, {{0, 4}, {0.5, 1}}), {{0, 4}, {1, 5}});
  // Jobs that come in later chunks find their ends where the first chunk put them: at 3.
  expect(serve(PreemptiveOrder::ShortestRemaining, 1.5, {{0, 9}, {1.6, 1}}), {{1, 4}, {0, 10}});
}

TEST(PreemptiveServer, KnowsItsUnfinishedWork) {
  PreemptiveServer server(PreemptiveOrder::ShortestRemaining);
  server.arrive(0, {0, 4, 0, 0});
  server.arrive(1, {1, 2, 0, 1});
  EXPECT_DOUBLE_EQ(server.unfinished_work(1), 5);
  EXPECT_DOUBLE_EQ(server.unfinished_work(2), 4);
  EXPECT_DOUBLE_EQ(server.work_done(2), 2);
  EXPECT_EQ(server.job_count(), 2U);
}

TEST(Server, EqualJobsAreServedAsTheyCame) {
  const std::vector<Arrival> equal{{0, 1}, {0, 1}, {0, 1}};
  const std::vector<End> one_by_one{{0, 1}, {1, 2}, {2, 3}};
  expect(serve(LimitedServer::Settings{.active_max = 1}, equal), one_by_one);
  expect(serve(PreemptiveOrder::ShortestRemaining, 0, equal), one_by_one);
  expect(serve(PreemptiveOrder::ShortestSize, 0, equal), one_by_one);
  expect(serve(SharingServer::Settings{}, equal), {{0, 3}, {1, 3}, {2, 3}});
}

}  // namespace
}  // namespace sluice::sim
