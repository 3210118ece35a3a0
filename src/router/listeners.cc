#include "router/listeners.h"

#include <utility>
#include <variant>

#include <asio/experimental/as_tuple.hpp>
#include <asio/post.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include "protocol/backend_messages.h"
#include "protocol/frontend_messages.h"
#include "router/worker.h"
#include "telemetry/log.h"

namespace sluice::router {
namespace {

using namespace std::chrono_literals;
namespace metric = telemetry::metric;

constexpr std::uint32_t kListenMessageBytesMax = 64 * 1024;  // a payload has less than 8000
constexpr std::size_t kListenReadBytes = 16 * 1024;
constexpr auto kPauseMin = 100ms;  // between two attempts to connect, doubled up to
constexpr auto kPauseMax = 2s;
// A connection without a channel is kept for that long: a client may unlisten and listen again.
constexpr auto kKept = 10s;
constexpr std::string_view kReadOnly = "25006";  // LISTEN on a standby

// What a listening connection needs of a session's way to log in.
ServerRequest request_for(const ListenPlace& place, const ServerRequest& way) {
  ServerRequest request;
  request.server = kPrimary;
  request.parameters = {{"user", way.parameters[0].second},
                        {"database", place.database},
                        {"application_name", "sluice listen"}};
  if (!place.encoding.empty()) request.parameters.emplace_back("client_encoding", place.encoding);
  request.credentials = way.credentials;
  return request;
}

}  // namespace

template <class Tell>
void Listeners::post(unsigned thread, Tell tell) {
  Worker& worker = *worker_.shared().workers[thread];
  asio::post(worker.context(),
             [&worker, tell = std::move(tell)]() mutable { tell(worker.listen_registry()); });
}

void Listeners::listen(unsigned thread, ListenPlace where, const std::string& channel, std::uint64_t ticket) {
  if (closing_) return;
  const std::string key = where.key;
  auto found = places_.find(key);
  if (found == places_.end()) {
    found = places_.emplace(key, std::make_unique<Place>(worker_.context().get_executor(), std::move(where)))
                .first;
    found->second->channels.add(thread, channel, ticket);
    if (!worker_.spawn("listener", serve(*found->second))) places_.erase(found);
    return;
  }
  Place& place = *found->second;
  place.at.ways = std::move(where.ways);  // the newest proof of who may log in
  place.channels.add(thread, channel, ticket);
  send(place);
}

void Listeners::unlisten(unsigned thread, const std::string& key, const std::string& channel) {
  const auto found = places_.find(key);
  if (found == places_.end()) return;
  found->second->channels.remove(thread, channel);
  send(*found->second);
}

void Listeners::hear_all(unsigned thread, const std::string& key, std::uint64_t ticket) {
  const auto found = places_.find(key);
  if (found == places_.end() || !found->second->connection) return tell_heard({{thread, ticket}});
  found->second->asked.push_back({thread, ticket});
  send(*found->second);
}

// Connected as long as somebody listens.
asio::awaitable<void> Listeners::serve(Place& place) {
  co_await asio::this_coro::throw_if_cancelled(false);
  const std::string key = place.at.key;
  std::chrono::milliseconds pause = kPauseMin;
  while (!closing_ && !place.channels.empty()) {
    const bool connected = co_await connect(place);
    if (connected && !closing_) {
      const Clock::time_point since = Clock::now();
      worker_.metrics().change(metric::listening_connections, 1);
      co_await receive(place);
      worker_.metrics().change(metric::listening_connections, -1);
      if (Clock::now() - since >= kPauseMax) pause = kPauseMin;
      place.channels.disconnected();
      tell_lost(place);
      tell_heard(std::exchange(place.answered, {}));
      tell_heard(std::exchange(place.asked, {}));
    }
    place.connection.reset();
    if (closing_ || place.channels.empty()) break;
    if (connected) {
      ++place.reconnects;
      worker_.metrics().count(metric::listening_reconnects_total);
      log::warning("listening connection lost, notifications may be, too", {{"database", place.at.database}});
    }
    place.pause.expires_after(pause);
    co_await place.pause.async_wait(asio::experimental::as_tuple(asio::use_awaitable));
    pause = std::min<std::chrono::milliseconds>(pause * 2, kPauseMax);
  }
  places_.erase(key);
}

// Those who wait are told of what another attempt would not mend; the rest is for their own patience.
asio::awaitable<bool> Listeners::connect(Place& place) {
  const SnapshotPtr snapshot = worker_.snapshot();
  if (!snapshot->servers.contains(kPrimary)) co_return false;
  const std::vector<ServerRequest> ways = place.at.ways;
  const Clock::time_point give_up_at = Clock::now() + snapshot->options().server_connect_timeout;
  for (const ServerRequest& way : ways) {
    ServerRequest request = request_for(place.at, way);
    auto opened = co_await open_server_connection(snapshot, std::move(request), give_up_at);
    if (auto* connection = std::get_if<ServerConnection>(&opened)) {
      // As things are now: the primary may have moved while it was opened.
      const auto now = worker_.snapshot()->servers.find(kPrimary);
      if (now == worker_.snapshot()->servers.end() ||
          !(now->second.target == snapshot->servers.at(kPrimary).target))
        co_return false;
      place.connection.emplace(std::move(*connection));
      co_return true;
    }
    const ServerFailure& failure = std::get<ServerFailure>(opened);
    log::warning("listening connection failed",
                 {{"database", place.at.database}, {"reason", failure.reason}});
    if (failure.kind == ServerFailure::Kind::Unanswerable && &way != &ways.back()) continue;
    if (failure.kind != ServerFailure::Kind::Unreachable && failure.kind != ServerFailure::Kind::NotReady)
      refuse(place, place.channels.take_waiting(), failure.error);
    co_return false;
  }
  co_return false;
}

// Until the connection ends.
asio::awaitable<void> Listeners::receive(Place& place) {
  place.error.reset();
  place.asking = false;
  place.needed_at = Clock::now();
  send(place);
  protocol::FrameDecoder decoder(kListenMessageBytesMax);
  for (;;) {
    const auto count = co_await place.connection->stream.read_some(decoder.prepare(kListenReadBytes));
    if (!count || closing_) co_return;
    decoder.commit(*count);
    if (!take(place, decoder)) co_return;
  }
}

bool Listeners::take(Place& place, protocol::FrameDecoder& decoder) {
  for (;;) {
    const auto frame = decoder.next();
    if (!frame) return false;
    if (!*frame) return true;
    switch ((*frame)->type) {
      case 'A':
        on_notification(place, **frame);
        break;
      case 'Z':
        if (!on_ready(place)) return false;
        break;
      case 'E':
        place.error = protocol::parse_error_fields((*frame)->body);
        if (place.error->severity != "ERROR") return false;
        break;
      case 'C':
      case 'I':
      case 'N':
      case 'S':
        break;
      default:
        return false;
    }
  }
}

// An error is that of one channel, unless the server stands by: then another one is needed.
bool Listeners::on_ready(Place& place) {
  if (!place.channels.running() && !place.asking) return false;
  tell_heard(std::exchange(place.answered, {}));
  const std::optional<protocol::ErrorFields> error = std::exchange(place.error, std::nullopt);
  if (std::exchange(place.asking, false)) {
    if (error) return false;
  } else if (!error) {
    place.channels.ready();
  } else {
    if (error->sqlstate == kReadOnly) return false;
    std::optional<std::vector<pooling::ListenChannels::Granted>> refused = place.channels.failed();
    if (!refused) return false;
    refuse(place, *std::move(refused), *error);
  }
  send(place);
  return true;
}

void Listeners::on_notification(Place& place, const protocol::Frame& frame) {
  ByteReader in(frame.body);
  const auto process_id = in.i32();
  const auto channel = in.cstring();
  if (!process_id || !channel) return;
  ++place.notifications;
  auto message = std::make_shared<Bytes>();
  protocol::append_message(*message, 'A', frame.body);
  for (const unsigned thread : place.channels.threads_of(*channel))
    post(thread, [key = place.at.key, name = std::string(*channel), message](ListenRegistry& registry) {
      registry.deliver(key, name, *message);
    });
}

// What is next to be said to the server, and to those who wait.
void Listeners::send(Place& place) {
  if (!place.channels.empty()) place.needed_at = Clock::now();
  if (place.connection && !place.asking && !place.channels.running()) {
    const std::string sql = place.channels.next_sql();
    place.asking = sql.empty() && !place.asked.empty();
    if (!sql.empty() || place.asking) {
      place.answered = std::exchange(place.asked, {});
      Bytes query;
      protocol::append_query(query, sql);
      place.asked_at = Clock::now();
      // Of little at a time to a server that reads: where it does not fit, something is wrong with it.
      const net::IoOutcome sent = place.connection->stream.try_write(query);
      if (sent.status != net::IoStatus::Ok || sent.bytes != query.size()) place.connection->stream.close();
    }
  }
  tell_granted(place);
}

void Listeners::tell_granted(Place& place) {
  for (pooling::ListenChannels::Granted& one : place.channels.take_granted())
    post(one.thread, [key = place.at.key, one = std::move(one)](ListenRegistry& registry) {
      registry.granted(key, one.channel, one.ticket);
    });
}

void Listeners::refuse(Place& place, std::vector<pooling::ListenChannels::Granted> all,
                       const protocol::ErrorFields& why) {
  for (pooling::ListenChannels::Granted& one : all)
    post(one.thread, [key = place.at.key, one = std::move(one), why](ListenRegistry& registry) {
      registry.refused(key, one.channel, one.ticket, why);
    });
}

void Listeners::tell_lost(const Place& place) {
  for (unsigned thread = 0; thread < worker_.shared().workers.size(); ++thread)
    post(thread, [key = place.at.key](ListenRegistry& registry) { registry.lost(key); });
}

void Listeners::tell_heard(std::vector<Question> all) {
  for (const Question& one : all)
    post(one.thread, [ticket = one.ticket](ListenRegistry& registry) { registry.heard_all(ticket); });
}

void Listeners::drop(ServerId server) {
  if (server != kPrimary) return;
  for (const auto& [key, place] : places_) {
    if (place->connection) place->connection->stream.close();
    place->pause.cancel();
  }
}

void Listeners::replace_snapshot(const Snapshot& from, const Snapshot& to) {
  const auto before = from.servers.find(kPrimary);
  const auto now = to.servers.find(kPrimary);
  const bool there = before != from.servers.end() && now != to.servers.end();
  if (there && before->second.target == now->second.target && from.server_sslmode == to.server_sslmode)
    return;
  drop(kPrimary);
}

void Listeners::tick(Clock::time_point now) {
  const auto patience = worker_.snapshot()->options().server_reset_timeout;
  for (const auto& [key, place] : places_) {
    if (!place->connection) continue;
    const bool silent = (place->channels.running() || place->asking) && now - place->asked_at >= patience;
    const bool unused = place->channels.empty() && now - place->needed_at >= kKept;
    if (silent || unused) place->connection->stream.close();
  }
}

void Listeners::close_all() {
  closing_ = true;
  drop(kPrimary);
}

std::vector<Listeners::Info> Listeners::info() const {
  std::vector<Info> all;
  for (const auto& [key, place] : places_) {
    const std::int32_t process_id = place->connection ? place->connection->process_id : 0;
    all.push_back({place->at.database, place->at.encoding, place->at.ways[0].parameters[0].second, process_id,
                   place->channels.size(), place->notifications, place->reconnects});
  }
  return all;
}

}  // namespace sluice::router
