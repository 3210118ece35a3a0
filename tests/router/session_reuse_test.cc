// What becomes of a server connection behind its session: reset and kept, or closed; and cancels, which must
// never find it with another client.

#include <gtest/gtest.h>

#include "protocol/backend_messages.h"
#include "protocol/frontend_messages.h"
#include "router/cancel.h"
#include "tests/router/session_world.h"

namespace sluice::router::test {
namespace {

using namespace std::chrono_literals;
using fakes::Backend;
using fakes::ScriptedClient;
using fakes::ScriptedServer;

// One replica, so that every session is on it.
constexpr std::string_view kCancels = "cancel_wait_timeout: 10\n";

// To the replicas, so far.
std::size_t cancels_sent(SessionWorld& world) {
  std::size_t count = 0;
  for (const std::string name : {"a", "b", "c"})
    count += world.server(name).cancels().size();
  return count;
}

TEST(SessionReuse, GivesTheNextSessionTheSameServer) {
  SessionWorld world;
  ScriptedClient& first = world.ready_client();
  Backend& backend = world.last_backend();
  world.end(first);
  ScriptedClient& second = world.ready_client();
  EXPECT_EQ(&world.last_backend(), &backend);
  EXPECT_EQ(second.types(), "RSSKZ");
  EXPECT_EQ(second.parameter("server_version"), "15.20");
  EXPECT_NE(second.process_id(), first.process_id());
  second.query("SELECT 1");
  world.settle();
  world.end(second);
  EXPECT_EQ(backend.heard(), (std::vector<std::string>{"Q:DISCARD ALL", "Q:SELECT 1", "Q:DISCARD ALL"}));
  EXPECT_EQ(world.reading().total(telemetry::metric::server_connections_reused_total), 1);
  world.expect_nothing_left();
}

TEST(SessionReuse, IsForTheSameUserAndSettingsAlone) {
  SessionWorld world;
  world.end(world.ready_client("trusted"));
  ScriptedClient& with_setting = world.connect();
  with_setting.start("trusted", {{"TimeZone", "Europe/Zurich"}});
  world.settle();
  EXPECT_TRUE(with_setting.ready());
  ScriptedClient& other = world.ready_client("alice");
  EXPECT_EQ(world.reading().total(telemetry::metric::server_connections_reused_total), 0);
  world.end(with_setting);
  world.end(other);
  EXPECT_EQ(world.shared().pool.size(), 3U);
  world.expect_nothing_left();
}

TEST(SessionReuse, ClosesAServerThatCannotBeReset) {
  SessionWorld world;
  world.server("a").reset = ScriptedServer::Reset::Fails;
  world.end(world.ready_client());
  EXPECT_EQ(world.server("a").open_backends(), 0U);
  EXPECT_EQ(world.shared().pool.size(), 0U);
  EXPECT_EQ(world.reading().total(telemetry::metric::server_resets_total), 1);
  world.expect_nothing_left();
}

TEST(SessionReuse, ClosesAServerThatIsSilentWhileItIsReset) {
  SessionWorld world("server_reset_timeout: 3\n");
  world.server("a").reset = ScriptedServer::Reset::StaysSilent;
  ScriptedClient& first = world.ready_client();
  world.end(first);
  EXPECT_TRUE(first.ended()) << "a client does not wait for it";
  ScriptedClient& second = world.ready_client();
  EXPECT_EQ(world.server("a").backends().size(), 2U) << "nor does the next one";
  world.run_for(2900ms);
  EXPECT_EQ(world.server("a").open_backends(), 2U);
  world.run_for(200ms);
  EXPECT_EQ(world.server("a").open_backends(), 1U);
  second.terminate();
  world.run_for(4s);
  EXPECT_EQ(world.server("a").open_backends(), 0U);
  world.expect_nothing_left();
}

TEST(SessionReuse, ClosesAServerThatIsLostWhileItIsReset) {
  SessionWorld world;
  world.server("a").on_message = [](Backend& backend, char, std::string_view text) {
    if (text != "DISCARD ALL") return false;
    backend.die("57P01");
    return true;
  };
  world.end(world.ready_client());
  EXPECT_EQ(world.shared().pool.size(), 0U);
  ScriptedClient& next = world.ready_client();
  EXPECT_EQ(next.types(), "RSSKZ");
  world.end(next);
  world.expect_nothing_left();
}

TEST(SessionReuse, PassesOverAServerThatWentWhileItWasKept) {
  SessionWorld world;
  world.end(world.ready_client());
  world.end(world.ready_client());
  world.last_backend().die("57P01");
  world.settle();
  ScriptedClient& client = world.ready_client();
  EXPECT_EQ(client.types(), "RSSKZ");
  EXPECT_TRUE(client.errors().empty());
  EXPECT_EQ(world.server("a").backends().size(), 2U);
  world.end(client);
  world.expect_nothing_left();
}

TEST(SessionReuse, TakesInWhatAServerSaysWhileItIsKept) {
  SessionWorld world;
  world.end(world.ready_client());
  Bytes unasked;
  protocol::append_notice_response(unasked, {"NOTICE", "00000", "for nobody", "", ""});
  protocol::append_parameter_status(unasked, "TimeZone", "Europe/Zurich");
  world.last_backend().send(unasked);
  world.settle();
  ScriptedClient& client = world.ready_client();
  EXPECT_EQ(world.server("a").backends().size(), 1U);
  EXPECT_EQ(client.types(), "RSSKZ");
  EXPECT_EQ(client.parameter("TimeZone"), "Europe/Zurich");
  world.end(client);
  world.expect_nothing_left();
}

// The server holds an open batch, and nobody knows what it would make of a reset within.
TEST(SessionReuse, ClosesAServerInTheMiddleOfABatch) {
  SessionWorld world;
  ScriptedClient& client = world.ready_client();
  Bytes parse;
  protocol::append_parse(parse, "s", "SELECT 1");
  protocol::append_flush(parse);
  client.send(parse);
  world.settle();
  EXPECT_EQ(client.types(), "RSSKZ1");
  client.peer().close();
  world.settle();
  EXPECT_EQ(world.server("a").open_backends(), 0U);
  EXPECT_EQ(world.shared().pool.size(), 0U);
  world.expect_nothing_left();
}

TEST(SessionCancel, ReachesTheServerThatRunsTheQuery) {
  SessionWorld world;
  ScriptedClient& idle = world.ready_client();
  ScriptedClient& busy = world.ready_client();
  Backend& backend = world.last_backend();
  busy.query("wait");
  world.settle();
  ScriptedClient& canceller = world.connect();
  canceller.cancel(busy);
  world.settle();
  EXPECT_TRUE(canceller.ended());
  EXPECT_EQ(world.server(world.last_server()).cancels(), (std::vector<std::int32_t>{backend.process_id()}));
  world.connect().cancel(idle);
  world.settle();
  EXPECT_EQ(world.server("a").cancels().size() + world.server("b").cancels().size(), 1U)
      << "nothing runs there";
  idle.peer().reset();
  busy.peer().reset();
  world.settle();
  world.expect_nothing_left();
}

// The session that the key was for is over, and its server runs another client's query.
TEST(SessionCancel, IsNeverForwardedWhenItComesTooLate) {
  SessionWorld world;
  ScriptedClient& gone = world.ready_client();
  world.end(gone);
  ScriptedClient& next = world.ready_client();
  next.query("wait");
  world.settle();
  ASSERT_EQ(world.server("a").backends().size(), 1U) << "the same server serves both";
  ScriptedClient& late = world.connect();
  late.cancel(gone);
  world.settle();
  EXPECT_TRUE(late.ended());
  EXPECT_TRUE(world.server("a").cancels().empty());
  EXPECT_EQ(world.reading().value(telemetry::metric::cancels_total, telemetry::CancelResult::UnknownKey), 1);
  next.peer().reset();
  world.settle();
  EXPECT_EQ(world.server("a").cancels().size(), 1U) << "its own, of a query that nobody waits for";
  world.expect_nothing_left();
}

// It comes in time, and is still under way when its session ends: the server must wait for it.
TEST(SessionCancel, HoldsTheServerBackUntilItIsDelivered) {
  SessionWorld world(kCancels);
  ScriptedClient& first = world.ready_client();
  Backend& backend = world.last_backend();
  first.query("wait");
  world.settle();
  world.server("a").hold_cancels = true;
  world.connect().cancel(first);
  world.settle();
  ASSERT_EQ(world.server("a").cancels().size(), 1U);
  Bytes answer;
  protocol::append_command_complete(answer, "SELECT 0");
  protocol::append_ready_for_query(answer, 'I');
  backend.send(answer);
  world.settle();
  world.end(first);
  EXPECT_EQ(world.shared().pool.size(), 0U);
  EXPECT_EQ(backend.heard().size(), 1U) << "not even a reset yet";
  ScriptedClient& second = world.ready_client();
  EXPECT_NE(&world.last_backend(), &backend);
  world.server("a").backends()[1].peer().close();  // the cancel's connection
  world.run_for(1s);
  EXPECT_EQ(world.shared().pool.size(), 1U);
  EXPECT_EQ(backend.heard().back(), "Q:DISCARD ALL");
  world.end(second);
  world.expect_nothing_left();
}

TEST(SessionCancel, CostsTheServerItsNextSessionWhenItsFateIsNotKnown) {
  SessionWorld world(kCancels);
  ScriptedClient& client = world.ready_client();
  Backend& backend = world.last_backend();
  client.query("wait");
  world.settle();
  world.server("a").hold_cancels = true;
  world.connect().cancel(client);
  world.settle();
  Bytes answer;
  protocol::append_command_complete(answer, "SELECT 0");
  protocol::append_ready_for_query(answer, 'I');
  backend.send(answer);
  world.settle();
  world.end(client);
  world.run_for(9s);
  EXPECT_TRUE(backend.open());
  world.run_for(2s);
  EXPECT_FALSE(backend.open());
  EXPECT_EQ(world.shared().pool.size(), 0U);
  world.expect_nothing_left();
}

// B25
TEST(SessionCancel, OfASessionsOwnKeyIsNeverLimitedInRate) {
  SessionWorld world("cancel_rate_limit: 1\n");
  std::vector<ScriptedClient*> clients;
  for (int i = 0; i < 30; ++i) {
    clients.push_back(&world.ready_client());
    clients.back()->query("wait");
  }
  world.settle();
  for (const ScriptedClient* const client : clients)
    world.connect().cancel(*client);
  world.settle();
  EXPECT_EQ(cancels_sent(world), 30U);
  EXPECT_EQ(world.reading().value(telemetry::metric::cancels_total, telemetry::CancelResult::Forwarded), 30);
  for (ScriptedClient* const client : clients)
    client->peer().reset();
  world.settle();
  world.expect_nothing_left();
}

TEST(SessionCancel, OfAKeyThatNobodyHasIsLimitedInRate) {
  SessionWorld world("cancel_rate_limit: 2\n");
  ScriptedClient& client = world.ready_client();
  client.query("wait");
  world.settle();
  Bytes wrong;
  protocol::append_cancel_request(wrong, client.process_id(), as_bytes("none"));
  const auto counted = [&world](telemetry::CancelResult result) {
    return world.reading().value(telemetry::metric::cancels_total, result);
  };
  for (int i = 0; i < 5; ++i)
    world.connect().send(wrong);
  world.connect().cancel(client);
  world.settle();
  EXPECT_EQ(counted(telemetry::CancelResult::UnknownKey), 2);
  EXPECT_EQ(counted(telemetry::CancelResult::RateLimited), 3);
  EXPECT_EQ(cancels_sent(world), 1U) << "they take no turn of the right one's";
  world.run_for(1s);
  for (int i = 0; i < 5; ++i)
    world.connect().send(wrong);
  world.settle();
  EXPECT_EQ(counted(telemetry::CancelResult::UnknownKey), 4);
  EXPECT_EQ(counted(telemetry::CancelResult::RateLimited), 6);
  client.peer().reset();
  world.settle();
  world.expect_nothing_left();
}

TEST(SessionCancel, OfOneSessionIsOneAtATimeAndOneBehindIt) {
  SessionWorld world(kCancels);
  ScriptedServer& server = world.server("a");
  ScriptedClient& client = world.ready_client();
  client.query("wait");
  world.settle();
  server.hold_cancels = true;
  ScriptedClient& first = world.connect();
  first.cancel(client);
  world.settle();
  for (int i = 0; i < 4; ++i)
    world.connect().cancel(client);
  world.settle();
  EXPECT_EQ(server.cancels().size(), 1U);
  server.backends()[1].peer().close();
  world.settle();
  EXPECT_EQ(server.cancels().size(), 2U) << "for all that came meanwhile";
  EXPECT_FALSE(first.ended()) << "a client with all its answers has none under way";
  server.backends()[2].peer().close();
  world.settle();
  EXPECT_TRUE(first.ended());
  EXPECT_EQ(server.cancels().size(), 2U);
  client.peer().reset();
  server.hold_cancels = false;
  world.settle();
  world.expect_nothing_left();
}

void hold_cancels(SessionWorld& world, bool hold) {
  for (const std::string name : {"a", "b", "c"})
    world.server(name).hold_cancels = hold;
}

// So many clients with a query each, all of which are cancelled while servers close no connection of a
// cancel.
std::vector<ScriptedClient*> cancelled_together(SessionWorld& world, std::size_t count) {
  hold_cancels(world, true);
  std::vector<ScriptedClient*> clients;
  for (std::size_t i = 0; i < count; ++i) {
    clients.push_back(&world.ready_client());
    clients.back()->query("wait");
  }
  world.settle();
  for (const ScriptedClient* const client : clients) {
    world.connect().cancel(*client);
    world.settle();
  }
  return clients;
}

// Servers that close no connection of a cancel hold up the others for as long as cancel_wait_timeout.
TEST(SessionCancel, BeyondThoseThatRunAtATimeWaitsForItsTurn) {
  SessionWorld world(kCancels);
  constexpr std::size_t kBeyond = 40;
  std::vector<ScriptedClient*> clients = cancelled_together(world, kCancelsRunningMax + kBeyond);
  EXPECT_EQ(cancels_sent(world), static_cast<std::size_t>(kCancelsRunningMax));
  hold_cancels(world, false);
  world.run_for(11s);
  EXPECT_EQ(cancels_sent(world), clients.size());
  EXPECT_EQ(world.reading().value(telemetry::metric::cancels_total, telemetry::CancelResult::Forwarded),
            static_cast<std::int64_t>(kBeyond));
  for (ScriptedClient* const client : clients)
    client->peer().reset();
  world.run_for(1min);
  world.expect_nothing_left();
}

TEST(SessionCancel, ThatWaitsForItsTurnIsNoneOnceItsSessionIsOver) {
  SessionWorld world(kCancels);
  std::vector<ScriptedClient*> clients = cancelled_together(world, kCancelsRunningMax + 1);
  hold_cancels(world, false);
  clients.back()->peer().reset();
  world.settle();
  world.run_for(11s);
  EXPECT_EQ(world.reading().value(telemetry::metric::cancels_total, telemetry::CancelResult::NothingRunning),
            1);
  for (ScriptedClient* const client : clients)
    client->peer().reset();
  world.run_for(1min);
  world.expect_nothing_left();
}

}  // namespace
}  // namespace sluice::router::test
