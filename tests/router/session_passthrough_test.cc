// A server judges the client: its silence, its loss and its refusal in the middle of that.

#include <gtest/gtest.h>

#include "tests/router/session_world.h"

namespace sluice::router::test {
namespace {

using namespace std::chrono_literals;
using fakes::ScriptedClient;
using fakes::ScriptedServer;

class Judged : public testing::Test {
 protected:
  Judged() : world("server_connect_timeout: 5\nclient_login_timeout: 30\n") {
    for (const std::string name : {"a", "b", "c", "p"})
      world.server(name).login = ScriptedServer::Login::Scram;
  }
  std::size_t open_backends() {
    std::size_t count = 0;
    for (const std::string name : {"a", "b", "c", "p"})
      count += world.server(name).open_backends();
    return count;
  }
  void expect_nothing_left() {
    world.settle();
    EXPECT_EQ(open_backends(), world.shared().pool.size());
    world.expect_nothing_left();
  }

  SessionWorld world;
};

TEST_F(Judged, LetsInWhomTheServerLetsIn) {
  ScriptedClient& client = world.ready_client("passed");
  EXPECT_EQ(client.types(), "RRRRSSKZ");
  EXPECT_EQ(world.last_backend().user(), "svc");
  EXPECT_EQ(open_backends(), 1U) << "the judge's connection serves nothing else";
  client.terminate();
  expect_nothing_left();
}

TEST_F(Judged, TellsWhatTheServerRefusesTheClientFor) {
  ScriptedClient& client = world.connect();
  client.password = "looking-glass";
  client.start("passed");
  world.settle();
  EXPECT_EQ(client.sqlstate(), "28P01");
  EXPECT_TRUE(client.ended());
  expect_nothing_left();
}

TEST_F(Judged, AsksAnotherServerWhereOneCannotBeReached) {
  world.server("a").go_down();
  world.server("b").swallow();
  ScriptedClient& client = world.client("passed");
  ASSERT_TRUE(world.run_until([&] { return client.ready(); }, 6s));
  EXPECT_EQ(world.failed(), (std::vector<std::string>{"a", "b"}));
  client.terminate();
  expect_nothing_left();
}

TEST_F(Judged, AsksAnotherServerWhereOneTakesTheConnectionAndSaysNothing) {
  world.server("a").stop = ScriptedServer::Stop::AtConnect;
  ScriptedClient& client = world.client("passed");
  world.run_for(4900ms);
  EXPECT_EQ(client.types(), "");
  ASSERT_TRUE(world.run_until([&] { return client.ready(); }, 1s));
  EXPECT_EQ(world.failed(), (std::vector<std::string>{"a"}));
  client.terminate();
  expect_nothing_left();
}

TEST_F(Judged, GetsAnErrorWhereAllServersStaySilent) {
  for (const std::string name : {"a", "b", "c", "p"})
    world.server(name).stop = ScriptedServer::Stop::AtConnect;
  ScriptedClient& client = world.client("passed");
  world.run_for(21s);
  EXPECT_EQ(client.sqlstate(), "57P03");
  EXPECT_TRUE(client.ended());
  expect_nothing_left();
}

// It has shown the client a challenge: no other server can go on with that.
TEST_F(Judged, GetsAnErrorWhereTheServerFallsSilentInMidLogin) {
  world.server("a").stop = ScriptedServer::Stop::InMiddleOfLogin;
  ScriptedClient& client = world.client("passed");
  world.run_for(4900ms);
  EXPECT_FALSE(client.ended());
  world.run_for(200ms);
  EXPECT_EQ(client.sqlstate(), "08006");
  EXPECT_TRUE(client.ended());
  EXPECT_EQ(world.failed(), (std::vector<std::string>{"a"}));
  EXPECT_EQ(world.admission().decisions().size(), 0U);
  world.run_for(1min);
  expect_nothing_left();
}

TEST_F(Judged, GetsAnErrorWhereTheServerIsLostInMidLogin) {
  world.server("a").stop = ScriptedServer::Stop::InMiddleOfLogin;
  world.server("a").manner = ScriptedServer::Manner::Closes;
  ScriptedClient& client = world.client("passed");
  world.settle();
  EXPECT_EQ(client.sqlstate(), "08006");
  EXPECT_TRUE(client.ended());
  EXPECT_EQ(world.failed(), (std::vector<std::string>{"a"}));
  EXPECT_LT(world.seconds(), 1.0);
  expect_nothing_left();
}

// A person who types a password is given the time for it.
TEST_F(Judged, HasItsWholeTimeToAnswer) {
  ScriptedClient& client = world.connect();
  client.automatic = false;
  client.start("passed");
  world.run_for(29s);
  EXPECT_EQ(client.types(), "R");
  EXPECT_FALSE(client.ended());
  EXPECT_EQ(open_backends(), 1U);
  world.run_for(2s);
  EXPECT_TRUE(client.ended());
  EXPECT_EQ(open_backends(), 0U);
  expect_nothing_left();
}

TEST_F(Judged, LeavesNothingBehindWhenItGoesInTheMiddle) {
  ScriptedClient& client = world.connect();
  client.automatic = false;
  client.start("passed");
  world.settle();
  EXPECT_EQ(open_backends(), 1U);
  client.peer().reset();
  world.settle();
  EXPECT_EQ(open_backends(), 0U);
  expect_nothing_left();
}

}  // namespace
}  // namespace sluice::router::test
