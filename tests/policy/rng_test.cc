#include "sluice/policy/rng.h"

#include <array>

#include <gtest/gtest.h>

namespace sluice::policy {
namespace {

TEST(Rng, GivesThePublishedSequence) {
  Rng rng(1234567);  // reference output of SplitMix64 for this seed
  EXPECT_EQ(rng.next(), 6457827717110365317u);
  EXPECT_EQ(rng.next(), 3203168211198807973u);
  EXPECT_EQ(rng.next(), 9817491932198370423u);
}

TEST(Rng, StaysBelowItsBoundAndReachesEveryValue) {
  Rng rng(7);
  std::array<int, 7> seen{};
  for (int i = 0; i < 7000; ++i)
    ++seen.at(rng.below(7));
  // 1000 expected, standard deviation 29: eight deviations are left by chance in fewer than one seed of
  // 10^14.
  for (const int count : seen)
    EXPECT_NEAR(count, 1000, 240);
  EXPECT_EQ(rng.below(1), 0u);
}

}  // namespace
}  // namespace sluice::policy
