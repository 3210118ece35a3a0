#include "router/server_login.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "net/connect.h"
#include "net/deadline.h"
#include "router/random.h"
#include "router/recycle.h"

namespace sluice::router {
namespace {

using Outcome = std::variant<ServerConnection, ServerFailure>;
using protocol::ErrorFields;
using protocol::ServerLogin;

constexpr std::size_t kServerLoginReadBytes = 4096;

// What a client is told when its server cannot be reached: the reason in general terms, addresses stay in the
// log.
ErrorFields unreachable(const std::string& name) {
  return {"FATAL", "08006", "could not connect to server \"" + name + "\"", "",
          "Try again; if it persists, the operator finds the reason in the router's log."};
}

ServerFailure unreachable(const ServerEndpoint& server, std::string reason) {
  return {ServerFailure::Kind::Unreachable, unreachable(server.name), std::move(reason)};
}

bool not_ready(const ErrorFields& error) {
  return error.sqlstate == "57P03" || error.sqlstate == "57P01" || error.sqlstate == "57P02" ||
         error.sqlstate == "53300";
}

ServerFailure::Kind kind_of(const ServerLogin& login) {
  switch (login.failure_source()) {
    case ServerLogin::FailureSource::Server:
      return not_ready(login.failure()) ? ServerFailure::Kind::NotReady : ServerFailure::Kind::Refused;
    case ServerLogin::FailureSource::Sluice:
      return ServerFailure::Kind::Unsupported;
    case ServerLogin::FailureSource::Credentials:
      return ServerFailure::Kind::Unanswerable;
  }
  return ServerFailure::Kind::Unsupported;
}

// One attempt on one TCP connection: its end, or the kind of connection that the login asks for instead.
using Ended = std::variant<Outcome, ServerLogin::Attempt>;

asio::awaitable<Ended> attempt(SnapshotPtr snapshot, const ServerEndpoint& server,
                               const ServerRequest& request, ServerLogin::Attempt kind,
                               std::chrono::steady_clock::time_point give_up_at) {
  const auto left = [&] {
    // Rounded up: what ends by it ends at give_up_at or later, which tells whose limit it was.
    return std::chrono::ceil<std::chrono::milliseconds>(give_up_at - std::chrono::steady_clock::now());
  };
  Result<net::Stream> connected = co_await net::connect(server.target, left(), snapshot->socket_options);
  if (!connected) co_return Outcome(unreachable(server, connected.error().code.message()));
  net::Stream stream = *std::move(connected);

  ServerLogin::Settings settings;
  settings.sslmode = snapshot->server_sslmode;
  settings.attempt = kind;
  random_bytes(settings.scram_nonce);
  settings.tls_possible = !server.target.is_unix() && snapshot->server_tls != nullptr;
  settings.parameters = request.parameters;
  settings.credentials = request.credentials;
  ServerLogin login(std::move(settings));

  net::Deadline deadline(stream.get_executor(), left(), [&stream] { stream.close(); });
  const auto broken = [&](const Error& error) {
    return Outcome(
        unreachable(server, deadline.expired() ? "timed out during start-up" : error.code.message()));
  };
  const Bytes preamble = proxy_preamble(server.proxy_protocol, request.place);
  if (!preamble.empty()) {
    if (auto sent = co_await stream.write_all(preamble); !sent) co_return broken(sent.error());
  }
  for (;;) {
    const ServerLogin::Want want = login.step();
    const Bytes output = login.take_output();
    if (!output.empty()) {
      if (auto sent = co_await stream.write_all(output); !sent) co_return broken(sent.error());
    }
    switch (want) {
      case ServerLogin::Want::Read: {
        auto count = co_await stream.read_some(login.prepare(kServerLoginReadBytes));
        if (!count) co_return broken(count.error());
        login.commit(*count);
        break;
      }
      case ServerLogin::Want::StartTls: {
        auto done =
            co_await stream.handshake(snapshot->server_tls, net::TlsRole::Client, server.verified_name());
        if (done) {
          login.tls_started(stream.tls()->peer_end_point_hash());
        } else if (deadline.expired()) {
          co_return broken(done.error());
        } else {
          login.tls_failed(done.error().code.message());
        }
        break;
      }
      case ServerLogin::Want::ReconnectPlain:
        co_return ServerLogin::Attempt::PlainRetry;
      case ServerLogin::Want::ReconnectTls:
        co_return ServerLogin::Attempt::TlsRetry;
      case ServerLogin::Want::Failed: {
        const ErrorFields& error = login.failure();
        co_return Outcome(ServerFailure{kind_of(login), error, error.sqlstate + " " + error.message});
      }
      case ServerLogin::Want::Ready: {
        // A server may have said more in the same breath: a changed setting, a notice, its own end.
        protocol::FrameDecoder behind(kUnaskedBytesMax);
        ParameterSet::Entries changes;
        Bytes notices = login.notices();
        protocol::feed(behind, login.unread());
        for (Unasked state; (state = take_unasked(behind, changes, notices)) != Unasked::None;) {
          if (state == Unasked::Unfit) {
            ServerFailure failure = unreachable(server, "ended the connection right after its start-up");
            failure.kind = ServerFailure::Kind::NotReady;
            co_return Outcome(std::move(failure));
          }
          const auto count = co_await stream.read_some(behind.prepare(kServerLoginReadBytes));
          if (!count) co_return broken(count.error());
          behind.commit(*count);
        }
        ServerConnection connection{std::move(stream),
                                    request.server,
                                    {},
                                    login.process_id(),
                                    Bytes(login.cancel_secret().begin(), login.cancel_secret().end()),
                                    ParameterSet::apply(ParameterSet::intern(login.parameters()), changes),
                                    request.parameters[0].second,
                                    request.parameters[1].second,
                                    std::chrono::steady_clock::now(),
                                    std::move(notices)};
        co_return Outcome(std::move(connection));
      }
    }
  }
}

}  // namespace

asio::awaitable<Outcome> open_server_connection(SnapshotPtr snapshot, ServerRequest request,
                                                std::chrono::steady_clock::time_point give_up_at) {
  const auto found = snapshot->servers.find(request.server);
  if (found == snapshot->servers.end()) {
    ServerEndpoint gone{"(removed)", {}};
    ServerFailure failure = unreachable(gone, "it is not in the configuration that the session began with");
    failure.kind = ServerFailure::Kind::NotReady;  // says nothing about the server
    co_return Outcome(std::move(failure));
  }
  const ServerEndpoint& server = found->second;
  const std::chrono::steady_clock::time_point own_end =
      std::chrono::steady_clock::now() + snapshot->options().server_connect_timeout;
  give_up_at = std::min(give_up_at, own_end);
  // The first attempt, and one more with the other kind of connection.
  ServerLogin::Attempt kind = ServerLogin::Attempt::First;
  for (int attempts = 0; attempts < 2; ++attempts) {
    Ended ended = co_await attempt(snapshot, server, request, kind, give_up_at);
    if (auto* outcome = std::get_if<Outcome>(&ended)) co_return std::move(*outcome);
    kind = std::get<ServerLogin::Attempt>(ended);
  }
  co_return unreachable(server, "the server refuses both TLS and plain connections");
}

}  // namespace sluice::router
