#include "demo/wave_plan.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace sluice::demo {
namespace {

bool same(const Wave& a, const Wave& b) {
  return a.class_index == b.class_index && a.start == b.start && a.sessions == b.sessions &&
         a.length == b.length;
}

// Sessions of a class at a moment, as planned.
int sessions_at(std::size_t class_index, Millis time) {
  int sum = 0;
  for (const Wave& wave : waves_between(Millis(0), time + Millis(1)))
    if (wave.class_index == class_index && time < wave.start + wave.length) sum += wave.sessions;
  return sum;
}

TEST(WavePlan, GivesEachWaveOnceHoweverTheTimeIsCut) {
  const auto whole = waves_between(Millis(0), Millis(60'000));
  for (const int step : {1, 7, 100, 999, 5000, 61'000}) {
    std::vector<Wave> pieces;
    for (int at = 0; at < 60'000; at += step)
      for (const Wave& wave : waves_between(Millis(at), Millis(std::min(at + step, 60'000))))
        pieces.push_back(wave);
    ASSERT_EQ(pieces.size(), whole.size()) << "step=" << step;
    for (std::size_t i = 0; i < whole.size(); ++i)
      EXPECT_TRUE(same(pieces[i], whole[i])) << "step=" << step << " i=" << i;
  }
}

TEST(WavePlan, GivesNothingForAnEmptyOrBackwardTime) {
  EXPECT_TRUE(waves_between(Millis(0), Millis(0)).empty());
  EXPECT_TRUE(waves_between(Millis(5000), Millis(1000)).empty());
}

TEST(WavePlan, AlwaysHasSessionsOfBothClasses) {
  for (Millis at{1000}; at < 2 * kRound; at += Millis(100)) {
    EXPECT_GT(sessions_at(0, at), 0) << at.count();
    EXPECT_GT(sessions_at(1, at), 0) << at.count();
  }
}

TEST(WavePlan, FillsThePremiumPoolAndMixedWithinTheFirstSeconds) {
  EXPECT_GT(sessions_at(0, Millis(3000)), 3 * kSaturation);
  EXPECT_EQ(phase_at(Millis(3000)), "Premium rush");
}

TEST(WavePlan, IsCalmEnoughBetweenTheRushesForReturns) {
  EXPECT_LE(sessions_at(0, Millis(9000)), kSaturation);
  EXPECT_EQ(phase_at(Millis(9000)), "calm");
}

TEST(WavePlan, RepeatsEveryRound) {
  for (Millis at{4000}; at < kRound; at += Millis(500))
    EXPECT_EQ(sessions_at(1, at), sessions_at(1, at + kRound)) << at.count();
  EXPECT_EQ(phase_at(Millis(12'000)), "Freemium rush");
  EXPECT_EQ(phase_at(Millis(12'000) + kRound), "Freemium rush");
}

}  // namespace
}  // namespace sluice::demo
