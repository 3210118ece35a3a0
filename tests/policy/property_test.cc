#include <gtest/gtest.h>

#include "tests/policy/history.h"

namespace sluice::policy {
namespace {

// Every seed gives another shape: 2-4 classes over 1-12 replicas.
HistoryKind shape_of(std::uint64_t seed) {
  HistoryKind kind;
  kind.class_count = 2 + seed % 3;
  kind.replica_count = 1 + seed % 12;
  return kind;
}

TEST(PlbProperty, AgreesWithTheOracleWhileAllReplicasLive) {
  for (const auto seed : seeds(100)) {
    const HistoryKind kind = shape_of(seed);
    ASSERT_EQ(play_history(kind, seed), "") << "SLUICE_SEED=" << seed;
  }
}

TEST(PlbProperty, AgreesWithTheOracleWhileReplicasFailReturnAndDrain) {
  for (const auto seed : seeds(100)) {
    HistoryKind kind = shape_of(seed);
    kind.failures = true;
    ASSERT_EQ(play_history(kind, seed), "") << "SLUICE_SEED=" << seed;
  }
}

TEST(PlbProperty, AgreesWithTheOracleWhileSessionsRetryElsewhere) {
  for (const auto seed : seeds(100)) {
    HistoryKind kind = shape_of(seed);
    kind.failures = kind.exclusions = true;
    ASSERT_EQ(play_history(kind, seed), "") << "SLUICE_SEED=" << seed;
  }
}

TEST(PlbProperty, AgreesWithTheOracleAcrossReloads) {
  for (const auto seed : seeds(100)) {
    HistoryKind kind = shape_of(seed);
    kind.failures = kind.exclusions = kind.reloads = true;
    ASSERT_EQ(play_history(kind, seed), "") << "SLUICE_SEED=" << seed;
  }
}

}  // namespace
}  // namespace sluice::policy
