#include "router/passthrough.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/error.h"
#include "net/connect.h"
#include "net/deadline.h"
#include "protocol/backend_messages.h"
#include "protocol/frame_decoder.h"
#include "protocol/frontend_messages.h"

namespace sluice::router {
namespace {

using Clock = std::chrono::steady_clock;
using protocol::ErrorFields;

constexpr std::uint32_t kLoginMessageBytesMax = 65536;
constexpr std::size_t kLoginMessageReadBytes = 2048;
constexpr std::size_t kHeaderBytes = 5;

// AuthenticationXXX codes; PostgreSQL manual, "Message Formats".
constexpr std::uint32_t kOk = 0;
constexpr std::uint32_t kCleartext = 3;
constexpr std::uint32_t kMd5 = 5;
constexpr std::uint32_t kSasl = 10;
constexpr std::uint32_t kSaslContinue = 11;
constexpr std::uint32_t kSaslFinal = 12;

ErrorFields failed(std::string message) {
  return {"FATAL", "08006", std::move(message), "", ""};
}

asio::awaitable<Result<protocol::Frame>> next_message(net::Stream& stream, protocol::FrameDecoder& decoder) {
  for (;;) {
    Result<std::optional<protocol::Frame>> frame = decoder.next();
    if (!frame) co_return frame.error();
    if (*frame) co_return **frame;
    const auto count = co_await stream.read_some(decoder.prepare(kLoginMessageReadBytes));
    if (!count) co_return count.error();
    decoder.commit(*count);
  }
}

// Any live replica, the primary where there is none: whoever is up can judge.
std::vector<ServerId> judges(Shared& shared, const Snapshot& snapshot) {
  std::vector<ServerId> servers;
  for (const policy::ReplicaSnapshot& replica : shared.admission.snapshot().replicas)
    // A reload may have added replicas that the session's own configuration does not know.
    if (replica.configured && replica.up && snapshot.servers.contains(ServerId(replica.id.value())))
      servers.push_back(ServerId(replica.id.value()));
  if (snapshot.servers.contains(kPrimary)) servers.push_back(kPrimary);
  return servers;
}

// A server that has begun to judge.
struct Judge {
  ServerId id;
  net::Stream stream;
  protocol::FrameDecoder decoder;
};

// A connection, over TLS as sslmode asks, on which the server was told who wants in and has begun to answer.
asio::awaitable<Result<Judge>> open_judge(SnapshotPtr snapshot, ServerId server,
                                          const protocol::StartupMessage& startup, const ClientPlace& place,
                                          Clock::time_point deadline) {
  const ServerEndpoint& known = snapshot->servers.at(server);
  const net::ConnectTarget& target = known.target;
  const Clock::time_point give_up_at =
      std::min(deadline, Clock::now() + snapshot->options().server_connect_timeout);
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(give_up_at - Clock::now());
  auto connected = co_await net::connect(target, left, snapshot->socket_options);
  if (!connected) co_return connected.error();
  net::Stream stream = *std::move(connected);
  // A server that accepts and then stays silent is given up like one that cannot be reached.
  const net::Deadline silence(stream.get_executor(), give_up_at - Clock::now(),
                              [&stream] { stream.close(); });
  const Bytes preamble = proxy_preamble(known.proxy_protocol, place);
  if (!preamble.empty()) {
    if (auto sent = co_await stream.write_all(preamble); !sent) co_return sent.error();
  }
  if (snapshot->server_tls != nullptr && !target.is_unix()) {
    Bytes request;
    protocol::append_ssl_request(request);
    if (auto sent = co_await stream.write_all(request); !sent) co_return sent.error();
    std::array<std::byte, 1> answer;
    if (auto got = co_await stream.read_exactly(answer); !got) co_return got.error();
    const bool offered = answer[0] == std::byte{'S'};
    if (offered) {
      auto done =
          co_await stream.handshake(snapshot->server_tls, net::TlsRole::Client, known.verified_name());
      if (!done) co_return done.error();
    } else if (snapshot->server_sslmode >= protocol::SslMode::Require) {
      co_return Error(BaseErrc::Closed, Side::Server);
    }
  }
  const std::vector<protocol::StartupParameter> parameters = {{"user", startup.user},
                                                              {"database", startup.database}};
  Bytes message;
  protocol::append_startup_message(message, parameters);
  if (auto sent = co_await stream.write_all(message); !sent) co_return sent.error();
  protocol::FrameDecoder decoder(kLoginMessageBytesMax);
  while (decoder.unread().size() < kHeaderBytes) {
    const auto count = co_await stream.read_some(decoder.prepare(kLoginMessageReadBytes));
    if (!count) co_return count.error();
    decoder.commit(*count);
  }
  co_return Judge{server, std::move(stream), std::move(decoder)};
}

// Why a request of that kind must not go to the client, or cannot.
std::optional<ErrorFields> cannot_pass(std::uint32_t code, bool secure) {
  if (code == kCleartext && !secure)
    return ErrorFields{"FATAL", "28000", "the server asks for a cleartext password, which needs TLS", "",
                       "Connect with TLS, or let the server use scram-sha-256."};
  if (code != kCleartext && code != kMd5 && code != kSasl && code != kSaslContinue && code != kSaslFinal)
    return ErrorFields{"FATAL", "0A000",
                       "the server asks for authentication method " + std::to_string(code) +
                           ", which cannot be passed through",
                       "",
                       "Let the server use scram-sha-256, md5 or password for connections of the router."};
  return std::nullopt;
}

// AuthenticationSASL without the mechanism that binds to the server's certificate.
Bytes without_plus(ByteView body) {
  ByteReader in(body);
  (void)in.u32();
  std::vector<std::string_view> mechanisms;
  for (auto name = in.cstring(); name && !name->empty(); name = in.cstring())
    if (!name->ends_with("-PLUS")) mechanisms.push_back(*name);
  Bytes out;
  protocol::append_authentication_sasl(out, mechanisms);
  return out;
}

}  // namespace

asio::awaitable<std::optional<ErrorFields>> relay_authentication(Shared& shared, SnapshotPtr snapshot,
                                                                 net::Stream& client, bool secure,
                                                                 const protocol::StartupMessage& startup,
                                                                 Clock::duration timeout, Bytes& pipelined,
                                                                 ClientPlace place) {
  const Clock::time_point give_up_at = Clock::now() + timeout;
  std::optional<Judge> judge;
  for (const ServerId id : judges(shared, *snapshot)) {
    auto opened = co_await open_judge(snapshot, id, startup, place, give_up_at);
    if (opened) {
      judge.emplace(*std::move(opened));
      break;
    }
    // A client that left little time says nothing about the server.
    if (Clock::now() >= give_up_at) break;
    shared.server_failed(id, opened.error().code.message());
  }
  if (!judge) co_return ErrorFields{"FATAL", "57P03", "no server is available to authenticate with", "", ""};
  net::Stream& server = judge->stream;

  // The caller's deadline closes the client alone, and a client that went away is not noticed here. The
  // client has all the time there is for each of its answers, the server no more than for any start-up.
  net::Deadline deadline(server.get_executor(), give_up_at - Clock::now(), [&server] { server.close(); });
  const auto lost = [&] {
    const bool silent = deadline.expired();
    if (Clock::now() < give_up_at)
      shared.server_failed(judge->id, silent ? "silent during authentication" : "lost during authentication");
    return failed(silent ? "the server did not answer during authentication"
                         : "the server closed the connection during authentication");
  };
  protocol::FrameDecoder from_client(kLoginMessageBytesMax);
  protocol::feed(from_client, pipelined);
  for (;;) {
    const Clock::duration left = give_up_at - Clock::now();
    deadline.reset(std::min<Clock::duration>(left, snapshot->options().server_connect_timeout));
    const auto message = co_await next_message(server, judge->decoder);
    if (!message) co_return lost();
    deadline.reset(give_up_at - Clock::now());
    if (message->type == 'N') continue;
    if (message->type == 'E') co_return protocol::parse_error_fields(message->body);
    if (message->type != 'R') co_return failed("the server broke off the authentication");
    const std::uint32_t code = ByteReader(message->body).u32().value_or(~0u);
    if (code == kOk) {
      const ByteView behind = from_client.unread();
      pipelined.assign(behind.begin(), behind.end());
      co_return std::nullopt;
    }
    if (std::optional<ErrorFields> unfit = cannot_pass(code, secure)) co_return unfit;
    Bytes out;
    if (code == kSasl) {
      out = without_plus(message->body);
    } else {
      protocol::append_message(out, 'R', message->body);
    }
    if (!co_await client.write_all(out)) co_return failed("the client closed the connection");
    if (code == kSaslFinal) continue;
    const auto answer = co_await next_message(client, from_client);
    if (!answer) co_return failed("the client closed the connection");
    if (answer->type != 'p')
      co_return ErrorFields{"FATAL", "08P01", "expected a password message during authentication", "", ""};
    out.clear();
    protocol::append_message(out, 'p', answer->body);
    if (!co_await server.write_all(out)) co_return lost();
  }
}

}  // namespace sluice::router
