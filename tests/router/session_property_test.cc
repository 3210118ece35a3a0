// Random clients, servers and networks: every byte arrives once and in order on both sides, sessions do not
// mix, and the counters tell what happened.

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "protocol/backend_messages.h"
#include "tests/router/session_world.h"

namespace sluice::router::test {
namespace {

using namespace std::chrono_literals;
using fakes::Backend;
using fakes::Random;
using fakes::Route;
using fakes::ScriptedClient;

constexpr auto kSlice = 20ms;

// What a server answers to a message: a function of the message, so that each answer shows whose it is.
// The text of Query and Parse is "<client> <number> <bytes of the row>", or "... error".
Bytes answer_to(char type, std::string_view text) {
  Bytes out;
  switch (type) {
    case 'Q':
      if (text.ends_with("error")) {
        protocol::append_error_response(out, {"ERROR", "22012", std::string(text), "", ""});
      } else {
        const std::size_t size = std::stoul(std::string(text.substr(text.rfind(' ') + 1)));
        Random pattern(std::hash<std::string_view>{}(text));
        Bytes row(size);
        for (std::byte& b : row)
          b = static_cast<std::byte>(pattern());
        protocol::append_message(out, 'D', row);
        protocol::append_command_complete(out, text);
      }
      protocol::append_ready_for_query(out, 'I');
      break;
    case 'P':
      protocol::append_message(out, '1', {});
      break;
    case 'B':
      protocol::append_message(out, '2', {});
      break;
    case 'E':
      protocol::append_command_complete(out, "SELECT 0");
      break;
    case 'S':
      protocol::append_ready_for_query(out, 'I');
      break;
    default:
      break;
  }
  return out;
}

bool is_prefix(ByteView part, ByteView whole) {
  return part.size() <= whole.size() && std::equal(part.begin(), part.end(), whole.begin());
}

// A client with all that it will do.
struct Actor {
  enum class End { Terminate, TerminateAtOnce, Close, HalfClose, Reset };

  std::vector<std::string> texts;  // of its Query and Parse messages
  std::vector<Bytes> batches;      // each ends with one ReadyForQuery
  Bytes expected;                  // the answers to all of it
  std::size_t results = 0;         // CommandComplete and ErrorResponse among them
  std::size_t errors = 0;
  End end = End::Terminate;
  bool pipelined = false;
  fakes::SimClock::Duration begins{};
  fakes::SimClock::Duration resets{};  // with End::Reset: how long after its beginning
  ScriptedClient* client = nullptr;
  bool done = false;

  std::size_t sent_bytes() const {
    std::size_t bytes = end == End::Terminate || end == End::TerminateAtOnce ? 5 : 0;
    for (const Bytes& batch : batches)
      bytes += batch.size();
    return bytes;
  }
};

class Play {
 public:
  explicit Play(std::uint64_t seed)
      : random_(seed), rough_(seed % 2 == 0), fine_(seed % 3 == 0), world_("", seed) {
    for (const std::string name : {"a", "b", "c"})
      world_.server(name).on_message = [](Backend& backend, char type, std::string_view text) {
        if (text == "DISCARD ALL" || text == "ROLLBACK" || type == 'X') return false;
        backend.send(answer_to(type, text));
        return true;
      };
    const std::size_t count = 1 + below(6);
    for (std::size_t i = 0; i < count; ++i)
      actors_.push_back(make_actor(i));
  }

  void run() {
    for (int slice = 0; slice < 3'000; ++slice) {
      bool all_done = true;
      for (Actor& actor : actors_) {
        step(actor);
        all_done = all_done && actor.done;
      }
      if (all_done) break;
      if (rough_) disturb();
      world_.run_for(kSlice);
    }
    for (const Actor& actor : actors_)
      EXPECT_TRUE(actor.done) << "a client waits for ever: " << actor.client->types().size();
    world_.run_for(2min);
    check();
  }

 private:
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  fakes::SimClock::Duration up_to(fakes::SimClock::Duration most) {
    return fakes::SimClock::Duration(
        static_cast<std::int64_t>(below(static_cast<std::uint64_t>(most.count()))));
  }

  Route make_route() {
    Route route;
    route.delay_min = up_to(2ms);
    route.delay_max = route.delay_min + up_to(5ms);
    const std::size_t pieces[] = {1, 7, 100, 1500, 100'000};
    route.piece_bytes_max = fine_ ? pieces[below(3)] : pieces[3 + below(2)];
    route.random_pieces = below(2) == 0;
    route.window_bytes = 2048 << below(7);
    return route;
  }

  std::size_t row_size() {
    const std::size_t sizes[] = {0, 10, 500, 5'000, 80'000};
    return sizes[below(fine_ ? 3 : 5)];
  }

  Actor make_actor(std::size_t number) {
    Actor actor;
    const std::size_t batches = below(7);
    for (std::size_t i = 0; i < batches; ++i) {
      const std::string text = std::to_string(number) + " " + std::to_string(i) + " ";
      Bytes batch;
      if (below(3) == 0) {
        const std::size_t statements = 1 + below(3);
        for (std::size_t s = 0; s < statements; ++s) {
          add(actor, 'P', text + std::to_string(s));
          protocol::append_parse(batch, "", actor.texts.back());
          protocol::append_bind(batch, "", "");
          protocol::append_execute(batch, "", 0);
          add(actor, 'B', {});
          add(actor, 'E', {});
        }
        protocol::append_sync(batch);
        add(actor, 'S', {});
      } else {
        add(actor, 'Q', text + (below(5) == 0 ? "error" : std::to_string(row_size())));
        protocol::append_query(batch, actor.texts.back());
      }
      actor.batches.push_back(std::move(batch));
    }
    actor.pipelined = below(2) == 0;
    actor.end = static_cast<Actor::End>(below(rough_ ? 5 : 4));
    actor.begins = up_to(3s);
    actor.resets = up_to(200ms);
    return actor;
  }

  static void add(Actor& actor, char type, const std::string& text) {
    if (type == 'Q' || type == 'P') actor.texts.push_back(text);
    if (type == 'Q' || type == 'E') ++actor.results;
    if (type == 'Q' && text.ends_with("error")) ++actor.errors;
    append(actor.expected, answer_to(type, text));
  }

  void step(Actor& actor) {
    if (actor.done || world_.seconds() < std::chrono::duration<double>(actor.begins).count()) return;
    if (actor.client == nullptr) return begin(actor);
    ScriptedClient& client = *actor.client;
    if (client.ended()) {
      actor.done = true;
      client.peer().close();
      return;
    }
    if (actor.end == Actor::End::Reset) {
      const auto since = std::chrono::duration<double>(actor.begins + actor.resets).count();
      if (world_.seconds() < since) return;
      client.peer().reset();
      actor.done = true;
      return;
    }
    if (client.ready_count() != actor.batches.size() + 1) return;
    if (actor.end == Actor::End::Terminate) client.terminate();
    if (actor.end == Actor::End::Close) client.peer().close();
    if (actor.end == Actor::End::HalfClose) client.peer().shutdown_send();
    // TerminateAtOnce has said so long ago; the end is awaited.
    actor.done = actor.end == Actor::End::Terminate || actor.end == Actor::End::Close;
  }

  void begin(Actor& actor) {
    world_.sim().network().to_code = make_route();
    world_.sim().network().to_peer = make_route();
    actor.client = &world_.connect();
    // A server connection that is made for it gets ways of its own.
    world_.sim().network().to_code = make_route();
    world_.sim().network().to_peer = make_route();
    Bytes all;
    for (const Bytes& batch : actor.batches)
      actor.pipelined ? append(all, batch) : actor.client->at_ready.push_back(batch);
    if (actor.end == Actor::End::TerminateAtOnce) {
      Bytes& last = actor.pipelined || actor.batches.empty() ? all : actor.client->at_ready.back();
      protocol::append_terminate(last);
    }
    if (!all.empty()) actor.client->at_ready.push_front(std::move(all));
    actor.client->start(below(2) == 0 ? "trusted" : "alice");
  }

  void disturb() {
    if (below(20) == 0) {
      Actor& actor = actors_[below(actors_.size())];
      if (actor.client != nullptr && !actor.done) actor.client->peer().pause();
    }
    if (below(5) == 0) {
      for (Actor& actor : actors_)
        if (actor.client != nullptr && !actor.done) actor.client->peer().resume();
    }
    fakes::ScriptedServer& server = world_.server(std::string(1, static_cast<char>('a' + below(3))));
    if (server.backends().empty() || below(30) != 0) return;
    Backend& backend = server.backends()[below(server.backends().size())];
    if (!backend.open()) return;
    disturbed_ = true;
    below(2) == 0 ? backend.die(backend.logged_in() ? "57P01" : "") : backend.peer().reset();
  }

  void check() {
    for (const Actor& actor : actors_) {
      const Bytes& got = actor.client->session_bytes();
      if (!rough_) {
        EXPECT_TRUE(got == actor.expected) << got.size() << " of " << actor.expected.size() << " bytes";
      } else if (!is_prefix(got, actor.expected)) {
        // The end of its session, in words, behind what it got.
        Bytes farewell;
        ASSERT_FALSE(actor.client->errors().empty());
        protocol::append_error_response(farewell, actor.client->errors().back());
        ASSERT_EQ(actor.client->errors().back().severity, "FATAL");
        ASSERT_LE(farewell.size(), got.size());
        EXPECT_TRUE(is_prefix(ByteView(got).first(got.size() - farewell.size()), actor.expected));
      }
    }
    check_servers();
    check_counters();
    world_.expect_nothing_left();
  }

  // Each client's messages came to one server connection, in order, with nobody else's in between.
  void check_servers() {
    std::vector<std::vector<std::string>> heard(actors_.size());
    for (const std::string name : {"a", "b", "c"}) {
      for (Backend& backend : world_.server(name).backends()) {
        std::string owner;
        for (const std::string& message : backend.heard()) {
          if (message == "Q:DISCARD ALL") owner.clear();
          if (message.size() < 3 || (message[0] != 'Q' && message[0] != 'P')) continue;
          const std::string text = message.substr(2);
          if (text == "DISCARD ALL" || text == "ROLLBACK") continue;
          const std::string client = text.substr(0, text.find(' '));
          EXPECT_TRUE(owner.empty() || owner == client) << "sessions mix on one server connection";
          owner = client;
          heard[std::stoul(client)].push_back(text);
        }
      }
    }
    for (std::size_t i = 0; i < actors_.size(); ++i) {
      const std::vector<std::string>& sent = actors_[i].texts;
      ASSERT_LE(heard[i].size(), sent.size());
      EXPECT_TRUE(std::equal(heard[i].begin(), heard[i].end(), sent.begin()));
      EXPECT_TRUE(rough_ || heard[i].size() == sent.size());
    }
  }

  void check_counters() {
    namespace metric = telemetry::metric;
    const telemetry::Reading reading = world_.reading();
    std::size_t sent = 0, expected = 0, got = 0, results = 0, errors = 0, terminated = 0;
    for (const Actor& actor : actors_) {
      sent += actor.sent_bytes();
      expected += actor.expected.size();
      got += actor.client->session_bytes().size();
      results += actor.results;
      errors += actor.errors;
      terminated += actor.end == Actor::End::Terminate || actor.end == Actor::End::TerminateAtOnce ? 1 : 0;
    }
    const auto total = [&](auto row) { return static_cast<std::size_t>(reading.total(row)); };
    EXPECT_EQ(total(metric::client_received_bytes_total), total(metric::server_sent_bytes_total));
    EXPECT_EQ(total(metric::client_sent_bytes_total), total(metric::server_received_bytes_total));
    EXPECT_EQ(total(metric::client_connections_total), actors_.size());
    if (rough_) {
      EXPECT_LE(total(metric::client_received_bytes_total), sent);
      EXPECT_TRUE(disturbed_ || total(metric::client_sent_bytes_total) >= got);
      EXPECT_LE(total(metric::queries_total), results + actors_.size());
      return;
    }
    // A Terminate is known by its first byte; the other four may come too late to be read.
    EXPECT_LE(total(metric::client_received_bytes_total), sent);
    EXPECT_GE(total(metric::client_received_bytes_total), sent - 4 * terminated);
    EXPECT_EQ(total(metric::client_sent_bytes_total), expected);
    EXPECT_EQ(total(metric::queries_total), results);
    EXPECT_EQ(total(metric::errors_total), errors);
    EXPECT_EQ(total(metric::sessions_opened_total), actors_.size());
    EXPECT_EQ(static_cast<std::size_t>(
                  reading.value(metric::sessions_closed_total, telemetry::CloseReason::ClientTerminate)),
              terminated);
    EXPECT_EQ(static_cast<std::size_t>(
                  reading.value(metric::sessions_closed_total, telemetry::CloseReason::ClientDisconnect)),
              actors_.size() - terminated);
  }

  Random random_;
  const bool rough_;  // clients reset and stop reading, servers go
  const bool fine_;   // small pieces, small rows
  bool disturbed_ = false;
  SessionWorld world_;
  std::vector<Actor> actors_;
};

TEST(SessionProperty, BytesArriveOnceAndInOrderAndCountersAgree) {
  for (const std::uint64_t seed : fakes::seeds(30)) {
    SCOPED_TRACE("SLUICE_SEED=" + std::to_string(seed));
    Play(seed).run();
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace sluice::router::test
