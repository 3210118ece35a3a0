// Every system call of whole sessions fails once, each in a run of its own: the clients are told or let go,
// nothing is left behind, and the next client is served.

#include <gtest/gtest.h>

#include "protocol/backend_messages.h"
#include "protocol/frontend_messages.h"
#include "tests/router/session_world.h"

namespace sluice::router::test {
namespace {

using namespace std::chrono_literals;
using fakes::ScriptedClient;
using fakes::ScriptedServer;

// A client that got less than everything got a beginning of it, at most an error behind that, and its end.
void expect_honest(const ScriptedClient& client, const std::string& expected) {
  std::string got = client.types();
  if (got == expected) return;
  EXPECT_TRUE(client.ended()) << got;
  if (got.ends_with('E')) got.pop_back();
  EXPECT_TRUE(expected.starts_with(got)) << client.types();
}

Bytes query_bytes(std::string_view sql) {
  Bytes out;
  protocol::append_query(out, sql);
  return out;
}

// Logins of both kinds, results large and small, a server used again, a cancel, ends of every kind.
void live(SessionWorld& world, std::string_view user) {
  Bytes terminate;
  protocol::append_terminate(terminate);
  const std::string login = user == "trusted" ? "RSSKZ" : "RRRRSSKZ";

  ScriptedClient& first = world.connect();
  first.at_ready = {query_bytes("SELECT 1"), query_bytes("rows 30 10000"), terminate};
  first.start(user);
  EXPECT_TRUE(world.run_until([&] { return first.ended(); }, 2min)) << first.types();
  expect_honest(first, login + "DCZ" + std::string(30, 'D') + "CZ");

  ScriptedClient& second = world.connect();
  second.at_ready = {query_bytes("BEGIN")};
  second.start(user);
  world.run_until([&] { return second.ready_count() == 2 || second.ended(); }, 2min);
  expect_honest(second, login + "CZ");
  second.peer().shutdown_send();
  EXPECT_TRUE(world.run_until([&] { return second.ended(); }, 2min)) << second.types();

  ScriptedClient& third = world.connect();
  third.at_ready = {query_bytes("wait")};
  third.start(user);
  world.run_for(1s);
  ScriptedClient& canceller = world.connect();
  canceller.cancel(third);
  EXPECT_TRUE(world.run_until([&] { return canceller.ended(); }, 2min));
  third.peer().reset();
  world.run_for(2min);
}

// In transaction mode: two clients take turns on a server, each with settings of its own, a batch, a result
// that is large; one ends within a block, one without a word, one within a query_bytes.
void live_in_transactions(SessionWorld& world, std::string_view user) {
  for (const std::string name : {"a", "b", "c"})
    world.server(name).on_message = [](fakes::Backend& backend, char, std::string_view text) {
      if (text.starts_with("SET TimeZone TO ")) {
        Bytes report;
        protocol::append_parameter_status(report, "TimeZone", text.substr(16));
        backend.send(report);
      }
      return false;
    };
  const auto has_heard = [&world](ScriptedClient& client, std::size_t count) {
    world.run_until([&] { return client.ready_count() >= count || client.ended(); }, 2min);
  };
  Bytes batch;
  protocol::append_parse(batch, "s", "SELECT 1");
  protocol::append_bind(batch, "", "s");
  protocol::append_execute(batch, "", 0);
  protocol::append_message(batch, 'S', {});

  ScriptedClient& first = world.connect();
  ScriptedClient& second = world.connect();
  first.at_ready = {query_bytes("SET TimeZone TO a"), query_bytes("SET search_path TO a"), batch,
                    query_bytes("rows 30 10000")};
  first.start(user);
  has_heard(first, 5);
  second.at_ready = {query_bytes("SELECT 1"), batch, query_bytes("BEGIN")};
  second.start(user);
  has_heard(second, 4);
  first.send(query_bytes("SELECT 1"));
  has_heard(first, 6);
  second.peer().shutdown_send();
  EXPECT_TRUE(world.run_until([&] { return second.ended(); }, 2min)) << second.types();
  first.send(query_bytes("INSERT"));
  first.peer().close();
  world.run_for(1min);

  ScriptedClient& third = world.connect();
  third.at_ready = {query_bytes("wait")};
  third.start(user);
  world.run_for(1s);
  third.peer().reset();
  world.run_for(2min);
}

void expect_to_survive_every_failure(std::string_view user, void (*live)(SessionWorld&, std::string_view),
                                     const std::string& more = "") {
  std::uint64_t number = 1;
  for (bool failed = true; failed && !testing::Test::HasFailure(); ++number) {
    SessionWorld world("client_login_timeout: 20\nserver_connect_timeout: 10\n" + more);
    for (const std::string name : {"a", "b", "c", "p"})
      world.server(name).login =
          user == "trusted" ? ScriptedServer::Login::Trust : ScriptedServer::Login::Scram;
    fakes::SimKernel& kernel = world.sim().kernel();
    const std::uint64_t before = kernel.calls();
    kernel.fail_call(before + number);
    live(world, user);
    failed = !kernel.failed_call().empty();
    SCOPED_TRACE("call " + std::to_string(number) + ", " + kernel.failed_call());
    world.expect_nothing_left();

    kernel.fail_call(0);
    for (const std::string name : {"a", "b", "c"})
      world.admission().set_up(*world.admission().find_replica(name), true);
    ScriptedClient& next = world.ready_client(user);
    next.query("SELECT 1");
    world.settle();
    EXPECT_TRUE(next.types().ends_with("DCZ")) << next.types();
    EXPECT_EQ(next.ready_count(), 2U);
    next.terminate();
    world.settle();
    world.expect_nothing_left();
  }
  EXPECT_GT(number, 50U) << "too few calls for such a life";
}

TEST(SessionFaults, SurviveTheFailureOfEveryCallWithTrust) {
  expect_to_survive_every_failure("trusted", live);
}

TEST(SessionFaults, SurviveTheFailureOfEveryCallWithScram) {
  expect_to_survive_every_failure("alice", live);
}

TEST(SessionFaults, SurviveTheFailureOfEveryCallWithPassthrough) {
  expect_to_survive_every_failure("passed", live);
}

TEST(SessionFaults, SurviveTheFailureOfEveryCallInTransactionMode) {
  expect_to_survive_every_failure("trusted", live_in_transactions, "pool_mode: transaction\n");
}

}  // namespace
}  // namespace sluice::router::test
