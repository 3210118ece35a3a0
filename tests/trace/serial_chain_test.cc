#include "trace/serial_chain.h"

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::trace {
namespace {

struct Span {
  int begin, end;
};

TimePoint at(int ns) {
  return TimePoint(std::chrono::nanoseconds(ns));
}

std::uint32_t length_of(const std::vector<Span>& spans) {
  SerialChain chain;
  for (const Span& s : spans)
    chain.add(at(s.begin), at(s.end));
  return chain.length();
}

// Every subset in the order of its ends: the greatest in which each begins at or after the end before.
std::uint32_t longest_by_trying(std::vector<Span> spans) {
  std::sort(spans.begin(), spans.end(),
            [](const Span& a, const Span& b) { return a.end != b.end ? a.end < b.end : a.begin < b.begin; });
  std::uint32_t best = 0;
  for (std::uint32_t subset = 0; subset < (1U << spans.size()); ++subset) {
    std::uint32_t length = 0;
    int end = -1;
    bool chained = true;
    for (std::size_t i = 0; i < spans.size() && chained; ++i) {
      if ((subset >> i & 1U) == 0) continue;
      chained = spans[i].begin >= end;
      end = spans[i].end;
      ++length;
    }
    if (chained) best = std::max(best, length);
  }
  return best;
}

// The longest path over "one after another", for sets too large to try.
std::uint32_t longest_by_paths(std::vector<Span> spans) {
  std::sort(spans.begin(), spans.end(),
            [](const Span& a, const Span& b) { return a.end != b.end ? a.end < b.end : a.begin < b.begin; });
  std::vector<std::uint32_t> upto(spans.size(), 1);
  std::uint32_t best = 0;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j)
      if (spans[i].begin >= spans[j].end) upto[i] = std::max(upto[i], upto[j] + 1);
    best = std::max(best, upto[i]);
  }
  return best;
}

TEST(SerialChain, CountsCallsThatFollowOneAnother) {
  EXPECT_EQ(length_of({{0, 1}, {1, 2}, {5, 9}}), 3U);
  EXPECT_EQ(length_of({}), 0U);
}

TEST(SerialChain, CountsParallelCallsOnce) {
  EXPECT_EQ(length_of({{0, 10}, {1, 9}, {2, 12}}), 1U);
  // One call, then two side by side, then one: three stages.
  EXPECT_EQ(length_of({{0, 10}, {11, 20}, {12, 25}, {26, 30}}), 3U);
}

TEST(SerialChain, PrefersManyShortCallsToALongOneBesideThem) {
  EXPECT_EQ(length_of({{0, 100}, {0, 10}, {20, 30}, {40, 50}}), 3U);
}

TEST(SerialChain, DoesNotDependOnTheOrderInWhichCallsAreAdded) {
  EXPECT_EQ(length_of({{40, 50}, {0, 10}, {20, 30}}), 3U);
}

TEST(SerialChain, TakesAnEndBeforeItsBeginningForAnInstant) {
  EXPECT_EQ(length_of({{10, 5}, {10, 20}}), 2U);
}

// Calls that each take a moment and begin when all they depend on has ended: tests/golden/placement.yaml, L20
// to L23.
TEST(SerialChain, GivesTheGoldenLongestChainsOfDependentCalls) {
  struct Case {
    const char* id;
    std::vector<std::vector<std::size_t>> needs;  // of each call, earlier calls by their index
    std::uint32_t expected;
  };
  const std::vector<Case> cases = {{"L20", {{}, {0}, {1}}, 3},
                                   {"L21", {{}, {0}, {1}, {1}, {1}}, 3},
                                   {"L22", {{}, {0}, {0}, {1, 2}}, 3},
                                   {"L23", {}, 0}};
  for (const Case& golden : cases) {
    std::vector<Span> spans;
    for (const auto& needs : golden.needs) {
      int begin = 0;
      for (const std::size_t call : needs)
        begin = std::max(begin, spans.at(call).end);
      spans.push_back({begin, begin + 10});
    }
    EXPECT_EQ(length_of(spans), golden.expected) << golden.id;
  }
}

TEST(SerialChain, AgreesWithTryingEverySubset) {
  std::mt19937 rng(20260101);
  for (int round = 0; round < 400; ++round) {
    std::vector<Span> spans(rng() % 12);
    for (Span& s : spans) {
      s.begin = static_cast<int>(rng() % 30);
      s.end = s.begin + static_cast<int>(rng() % 8);
    }
    ASSERT_EQ(length_of(spans), longest_by_trying(spans)) << "round " << round;
    ASSERT_EQ(longest_by_paths(spans), longest_by_trying(spans)) << "round " << round;
  }
}

TEST(SerialChain, StaysExactAndBoundedForLongRequestsInRoughOrder) {
  std::mt19937 rng(7);
  for (int round = 0; round < 20; ++round) {
    std::vector<Span> spans(600 + rng() % 600);
    SerialChain chain;
    int clock = 0;
    for (Span& s : spans) {
      clock += static_cast<int>(rng() % 6);
      s.begin = clock;
      s.end = s.begin + static_cast<int>(rng() % 10);
      chain.add(at(s.begin), at(s.end));
      ASSERT_LE(chain.held(), SerialChain::kCallsMax);
    }
    ASSERT_EQ(chain.length(), longest_by_paths(spans)) << "round " << round;
  }
}

}  // namespace
}  // namespace sluice::trace
