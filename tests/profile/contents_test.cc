#include "profile/contents.h"

#include <gtest/gtest.h>

namespace sluice::profile {
namespace {

using namespace std::chrono_literals;

TEST(ProfileContents, HaveMatricesAsLargeAsTheirListsSay) {
  Contents contents;
  contents.hosts.resize(2);
  contents.servers.resize(3);
  EXPECT_FALSE(is_consistent(contents));
  fit_matrices(contents);
  EXPECT_TRUE(is_consistent(contents));
  EXPECT_EQ(contents.rtt.size(), 6u);
  contents.shares.push_back(0.5);
  EXPECT_FALSE(is_consistent(contents));
}

TEST(ProfileContents, AreFoundByName) {
  Contents contents;
  contents.hosts.resize(2);
  contents.hosts[1].name = "b";
  contents.classes = {"premium", "freemium"};
  EXPECT_EQ(find_host(contents, "b"), 1u);
  EXPECT_EQ(find_host(contents, "c"), std::nullopt);
  EXPECT_EQ(find_class(contents, "freemium"), 1u);
  EXPECT_EQ(find_server(contents, ""), std::nullopt);
  EXPECT_EQ(find_route(contents, "/"), std::nullopt);
}

TEST(ProfileWriter, IsDeadAfterFourIntervalsWithoutAHeartbeat) {
  const Moment start{1h};
  Publication p;
  p.interval = 1s;
  p.heartbeat = start;
  EXPECT_EQ(writer_state(p, start), WriterState::Alive);
  EXPECT_EQ(writer_state(p, start + 4s), WriterState::Alive);
  EXPECT_EQ(writer_state(p, start + 4s + 1ns), WriterState::Dead);
  p.interval = 1ms;
  EXPECT_EQ(writer_state(p, start + 2s), WriterState::Alive) << "at least 2 s";
}

TEST(ProfileWriter, IsDeadWhenItsHeartbeatIsOfTheFutureOrOfNever) {
  Publication p;
  p.heartbeat = Moment::max();
  EXPECT_EQ(writer_state(p, Moment{1h}), WriterState::Dead);
  p.heartbeat = Moment::min();
  p.interval = Nanos::max();
  EXPECT_EQ(writer_state(p, Moment{1h}), WriterState::Dead);
  p.closed = true;
  EXPECT_EQ(writer_state(p, Moment{1h}), WriterState::Closed);
  EXPECT_EQ(writer_state_name(WriterState::Closed), "closed");
}

}  // namespace
}  // namespace sluice::profile
