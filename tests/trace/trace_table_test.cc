#include "trace/trace_table.h"

#include <algorithm>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "trace/call_batch.h"

namespace sluice::trace {
namespace {

using namespace std::chrono_literals;

class Traces : public testing::Test {
 protected:
  void add(std::uint64_t trace, int begin, int end, std::uint32_t host = 0, std::uint64_t route = 0) {
    Call call;
    call.trace = {0, trace};
    call.begin = at(begin);
    call.end = at(end);
    table.add(call, host, RouteNumber(route), at(end));
    ASSERT_TRUE(table.check_invariant());
  }
  static TimePoint at(int ms) { return TimePoint(std::chrono::milliseconds(ms)); }

  TraceTable::Settings settings{1s, 4, 1000};
  std::vector<std::pair<std::uint64_t, std::uint32_t>> closed;  // route, N_serial
  TraceTable table{settings, [this](RouteNumber route, std::uint32_t n_serial) {
                     closed.emplace_back(route.value(), n_serial);
                   }};
};

TEST_F(Traces, AreClosedOnceNoCallCameForTheIdleTime) {
  add(1, 0, 10);
  add(1, 20, 30);
  table.close_idle(at(1029));
  EXPECT_TRUE(closed.empty());
  table.close_idle(at(1030));
  ASSERT_EQ(closed.size(), 1U);
  EXPECT_EQ(closed[0].second, 2U);
  EXPECT_EQ(table.open(), 0U);
  EXPECT_EQ(table.calls_held(), 0U);
}

TEST_F(Traces, AreToldApartByTraceHostAndRoute) {
  add(1, 0, 10, 0, 7);
  add(1, 20, 30, 1, 7);
  add(1, 40, 50, 0, 8);
  add(2, 60, 70, 0, 7);
  table.close_idle(at(5000));
  EXPECT_EQ(closed, (std::vector<std::pair<std::uint64_t, std::uint32_t>>{{7, 1}, {7, 1}, {8, 1}, {7, 1}}));
}

TEST_F(Traces, ThatAreLongestQuietAreClosedEarlyWhenThereAreTooMany) {
  for (std::uint64_t trace = 1; trace <= 4; ++trace)
    add(trace, static_cast<int>(trace), static_cast<int>(trace) + 1, 0, trace);
  add(1, 10, 11, 0, 1);
  add(5, 12, 13, 0, 5);
  ASSERT_EQ(closed.size(), 1U);
  EXPECT_EQ(closed[0].first, 2U);
  EXPECT_EQ(table.open(), 4U);
}

TEST_F(Traces, AreClosedEarlyWhenTheirCallsAreTooMany) {
  settings.calls_max = 100;
  TraceTable small(settings, [this](RouteNumber route, std::uint32_t n_serial) {
    closed.emplace_back(route.value(), n_serial);
  });
  for (int i = 0; i < 500; ++i) {
    Call call;
    call.trace = {0, static_cast<std::uint64_t>(i % 4 + 1)};
    call.begin = at(i);
    call.end = at(i + 1);
    small.add(call, 0, RouteNumber(0), at(i));
    ASSERT_LE(small.calls_held(), 101U);
    ASSERT_TRUE(small.check_invariant());
  }
  EXPECT_FALSE(closed.empty());
}

// The same by a plain map, over many traces that come, come again and go, with hashes that meet.
TEST(TraceTable, AgreesWithAMapOfTraces) {
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    std::mt19937 rng(seed);
    TraceTable::Settings settings{50ms, 300, 100000, seed};
    std::map<std::uint64_t, std::uint32_t> closed;
    TraceTable table(settings, [&](RouteNumber route, std::uint32_t n_serial) {
      ASSERT_TRUE(closed.emplace(route.value(), n_serial).second);
    });
    struct Open {
      std::uint32_t calls;
      int touched;
    };
    std::map<std::uint64_t, Open> open;
    std::map<std::uint64_t, std::uint32_t> expected;
    const auto close_where = [&](auto which) {
      for (auto trace = open.begin(); trace != open.end();)
        if (which(trace->second)) {
          expected.emplace(trace->first, trace->second.calls);
          trace = open.erase(trace);
        } else {
          ++trace;
        }
    };
    // Each trace has a route of its own, so that it is found again; a closed one never comes back.
    std::uint64_t next = 1;
    for (int now = 1; now <= 5000; ++now) {
      std::uint64_t trace = next;
      if (!open.empty() && rng() % 3 != 0) {
        trace = std::next(open.begin(), static_cast<std::ptrdiff_t>(rng() % open.size()))->first;
      } else {
        ++next;
        if (open.size() == settings.traces_max) {
          int oldest = now;
          for (const auto& [id, state] : open)
            oldest = std::min(oldest, state.touched);
          close_where([&](const Open& state) { return state.touched == oldest; });
        }
      }
      Open& state = open[trace];
      ++state.calls;
      state.touched = now;
      Call call;
      call.trace = {trace % 7, trace};
      call.begin = TimePoint(std::chrono::milliseconds(now));
      call.end = call.begin;
      table.add(call, 0, RouteNumber(trace), call.begin);
      if (rng() % 700 == 0) {
        now += 40;
        table.close_idle(TimePoint(std::chrono::milliseconds(now)));
        close_where([&](const Open& each) { return now - each.touched >= 50; });
      }
      ASSERT_EQ(table.open(), open.size()) << "seed " << seed;
      ASSERT_TRUE(now % 50 != 0 || table.check_invariant()) << "seed " << seed;
    }
    ASSERT_TRUE(table.check_invariant()) << "seed " << seed;
    EXPECT_EQ(closed, expected) << "seed " << seed;
  }
}

// Places of closed traces are left behind: they must not be taken for the trace, nor fill the table.
TEST(TraceTable, ATraceThatComesBackOnceClosedIsAnotherRequest) {
  std::uint32_t closed = 0;
  TraceTable table({10ms, 4, 100, 1}, [&](RouteNumber, std::uint32_t n_serial) {
    EXPECT_EQ(n_serial, 1U);
    ++closed;
  });
  for (int round = 0; round < 2000; ++round) {
    const TimePoint now(std::chrono::milliseconds(20 * round));
    for (std::uint64_t i = 0; i < 3; ++i) {
      Call call;
      call.trace = {0, 1 + (static_cast<std::uint64_t>(round) + i) % 5};
      call.begin = call.end = now;
      table.add(call, 0, RouteNumber(0), now);
    }
    table.close_idle(now + 10ms);
    ASSERT_EQ(table.open(), 0U);
    ASSERT_TRUE(table.check_invariant()) << "round " << round;
  }
  EXPECT_EQ(closed, 6000U);
}

// Or each would make the way to the next a step longer.
TEST_F(Traces, ThatComeBackHaveTheirPlacesAgain) {
  for (int round = 0; round < 1000; ++round) {
    const int now = 2000 * round;
    for (std::uint64_t trace = 1; trace <= 3; ++trace)
      add(trace, now, now + 1);
    table.close_idle(at(now + 1001));
  }
  EXPECT_EQ(closed.size(), 3000U);
  EXPECT_EQ(table.places_used(), 3U);
}

TEST(CallBatcher, NamesEachRouteOnce) {
  CallBatcher batcher(3);
  const auto feed = RouteName("/feed");
  const auto list = RouteName("/list");
  batcher.add(Call(), feed, Origin{1, 2});
  batcher.add(Call(), list, Origin{});
  EXPECT_FALSE(batcher.full());
  batcher.add(Call(), RouteName("/feed"), Origin{});
  EXPECT_TRUE(batcher.full());
  const CallBatch batch = batcher.take();
  ASSERT_EQ(batch.routes.size(), 2U);
  ASSERT_EQ(batch.entries.size(), 3U);
  EXPECT_EQ(batch.entries[0].route, batch.entries[2].route);
  EXPECT_EQ(batch.routes[0].calls, 2U);
  EXPECT_EQ(batch.routes[1].calls, 1U);
  EXPECT_EQ(batch.entries[0].origin, (Origin{1, 2}));
  EXPECT_TRUE(batcher.empty());
  batcher.add(Call(), list, Origin{});
  EXPECT_EQ(batcher.take().routes.size(), 1U);
}

}  // namespace
}  // namespace sluice::trace
