#include "router/replay_positions.h"

#include <gtest/gtest.h>

namespace sluice::router {
namespace {

using policy::ReplicaId;
using Replicas = std::vector<ReplicaId>;

const Replicas kAll{ReplicaId(0), ReplicaId(1), ReplicaId(2)};

TEST(ReplayPositions, OfWhomNothingIsKnownIsBehind) {
  ReplayPositions positions;
  EXPECT_EQ(positions.behind(1, kAll), kAll);
  positions.set(ReplicaId(1), 100);
  EXPECT_EQ(positions.behind(100, kAll), (Replicas{ReplicaId(0), ReplicaId(2)}));
  EXPECT_EQ(positions.behind(101, kAll), kAll);
  positions.set(ReplicaId(0), 101);
  EXPECT_EQ(positions.behind(101, kAll), (Replicas{ReplicaId(1), ReplicaId(2)}));
  positions.set(ReplicaId(0), std::nullopt);
  EXPECT_EQ(positions.behind(101, kAll), kAll) << "it is down";
}

TEST(ReplayPositions, KnowOnlyWhoIsAskedFor) {
  ReplayPositions positions;
  positions.set(ReplicaId(7), 5);
  EXPECT_EQ(positions.behind(5, {}), Replicas{});
  EXPECT_EQ(positions.behind(5, {ReplicaId(7)}), Replicas{});
}

}  // namespace
}  // namespace sluice::router
