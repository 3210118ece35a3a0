// Whole histories: requests whose calls run over several sessions, some in transactions, some prepared,
// against an oracle that knows which call was whose.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/trace/traced_session.h"
#include "trace/call_batch.h"
#include "trace/route_table.h"
#include "trace/trace_table.h"

namespace sluice::trace::test {
namespace {

struct Interval {
  TimePoint begin, end;
};

std::uint32_t longest_by_paths(std::vector<Interval> calls) {
  std::sort(calls.begin(), calls.end(), [](const Interval& a, const Interval& b) {
    return a.end != b.end ? a.end < b.end : a.begin < b.begin;
  });
  std::vector<std::uint32_t> upto(calls.size(), 1);
  std::uint32_t best = 0;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j)
      if (calls[i].begin >= calls[j].end) upto[i] = std::max(upto[i], upto[j] + 1);
    best = std::max(best, upto[i]);
  }
  return best;
}

class History {
 public:
  explicit History(std::uint32_t seed) : rng_(seed) {
    for (int i = 0; i < 5; ++i)
      lanes_.push_back(std::make_unique<Lane>());
  }

  void run(int steps) {
    for (int step = 0; step < steps; ++step) {
      now_ += 1 + below(3);
      Lane& lane = *lanes_[below(lanes_.size())];
      lane.busy ? answer(lane) : ask(lane);
    }
    for (const auto& lane : lanes_) {
      ++now_;
      if (lane->busy) answer(*lane);
    }
  }

  // By request: what the tables say, the calls of each session being brought in batches, in any order of the
  // sessions.
  std::map<std::string, std::uint32_t> observed() {
    std::vector<CallBatch> batches;
    for (const auto& lane : lanes_) {
      CallBatcher batcher(1 + below(4));
      for (const TracedSession::Seen& seen : lane->session.calls) {
        Call call;
        call.trace = {0, seen.trace};
        call.begin = seen.begin;
        call.end = seen.end;
        batcher.add(call, RouteName(seen.route), Origin{});
        if (batcher.full()) batches.push_back(batcher.take());
      }
      batches.push_back(batcher.take());
    }
    std::shuffle(batches.begin(), batches.end(), rng_);
    RouteTable routes(1000);
    std::map<std::string, std::uint32_t> found;
    TraceTable traces({std::chrono::seconds(1)}, [&](RouteNumber route, std::uint32_t n_serial) {
      found[routes.routes()[*routes.slot_of(route)].name] = n_serial;
    });
    for (const CallBatch& batch : batches) {
      for (const CallBatch::Entry& entry : batch.entries) {
        const auto slot = routes.slot_for(batch.routes[entry.route].name, 1);
        traces.add(entry.call, 0, routes.routes()[*slot].number, at(0));
      }
    }
    traces.close_idle(at(1000));
    EXPECT_EQ(traces.open(), 0U);
    return found;
  }
  std::map<std::string, std::uint32_t> expected() const {
    std::map<std::string, std::uint32_t> out;
    for (const auto& [request, calls] : truth_)
      out["/r" + std::to_string(request)] = longest_by_paths(calls);
    return out;
  }

 private:
  struct Lane {
    TracedSession session;
    bool busy = false;
    char status = 'I', next_status = 'I';
    std::uint64_t block = 0;     // the request of the open transaction
    std::vector<Interval> held;  // of a block whose comment is still to come
    bool commented = false;      // the block has had its comment
    std::uint64_t call = 0;      // the request of the call under way, 0: nobody's
    std::int64_t begin = 0;
    bool extended = false;
  };

  std::size_t below(std::size_t n) { return rng_() % n; }
  // Each request has a route of its own, so that it is found again.
  static std::string tagged(std::string_view sql, std::uint64_t request) {
    return std::string(sql) + comment("/r" + std::to_string(request), request);
  }

  void ask(Lane& lane) {
    lane.begin = now_;
    lane.busy = true;
    lane.next_status = lane.status;
    std::string sql = "SELECT 1";
    if (lane.status == 'I') {
      lane.call = below(6) == 0 ? 0 : 1 + below(40);
      if (lane.call != 0 && below(3) == 0) {
        lane.block = lane.call;
        lane.next_status = 'T';
        lane.commented = below(2) == 0;
        sql = "BEGIN";
        if (lane.commented) sql = tagged(sql, lane.call);
      } else if (lane.call != 0) {
        sql = tagged(sql, lane.call);
      }
    } else {
      lane.call = lane.block;
      if (lane.commented && below(4) == 0) {
        lane.next_status = 'I';
        sql = "COMMIT";
      } else if (lane.held.size() + 1 >= SessionCalls::kHeldMax || below(2) == 0) {
        sql = tagged(sql, lane.call);
        lane.commented = true;
      }
    }
    lane.extended = below(2) == 0;
    if (lane.extended) {
      lane.session.parse("", sql, now_);
      lane.session.bind("", now_);
      lane.session.execute(now_);
      lane.session.sync(now_);
    } else {
      lane.session.query(sql, now_);
    }
  }

  void answer(Lane& lane) {
    if (lane.extended) {
      lane.session.answer('1', now_);
      lane.session.answer('2', now_);
    }
    lane.session.answer('C', now_);
    lane.session.ready(now_, lane.next_status);
    const Interval interval{at(lane.begin), at(now_)};
    if (lane.block != 0 && !lane.commented) {
      lane.held.push_back(interval);
    } else if (lane.call != 0) {
      auto& calls = truth_[lane.call];
      calls.insert(calls.end(), lane.held.begin(), lane.held.end());
      calls.push_back(interval);
      lane.held.clear();
    }
    lane.status = lane.next_status;
    if (lane.status == 'I') lane.block = 0;
    lane.busy = false;
  }

  std::mt19937 rng_;
  std::int64_t now_ = 1;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::map<std::uint64_t, std::vector<Interval>> truth_;
};

TEST(TraceHistory, GivesEachRequestItsLongestChainWhateverSessionsCarriedIt) {
  for (std::uint32_t seed = 1; seed <= 200; ++seed) {
    History history(seed);
    history.run(400);
    ASSERT_EQ(history.observed(), history.expected()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace sluice::trace::test
