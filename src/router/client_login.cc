#include "router/client_login.h"

#include <chrono>
#include <utility>

#include "base/error.h"
#include "config/match.h"
#include "net/deadline.h"
#include "net/prefix_peek.h"
#include "protocol/backend_messages.h"
#include "router/classify.h"
#include "router/passthrough.h"
#include "router/random.h"
#include "telemetry/log.h"

namespace sluice::router {
namespace {

using protocol::AuthMethod;
using protocol::ClientLogin;

constexpr std::size_t kClientLoginReadBytes = 2048;

// Counts a connection that has not proven itself.
class Unauthenticated {
 public:
  Unauthenticated(std::atomic<std::size_t>& count, telemetry::ThreadMetrics& metrics)
      : count_(count), metrics_(metrics) {
    position_ = count_.fetch_add(1, std::memory_order_relaxed) + 1;
    metrics_.change(telemetry::metric::unauthenticated_connections, 1);
  }
  Unauthenticated(const Unauthenticated&) = delete;
  Unauthenticated& operator=(const Unauthenticated&) = delete;
  ~Unauthenticated() {
    count_.fetch_sub(1, std::memory_order_relaxed);
    metrics_.change(telemetry::metric::unauthenticated_connections, -1);
  }
  std::size_t position() const noexcept { return position_; }

 private:
  std::atomic<std::size_t>& count_;
  telemetry::ThreadMetrics& metrics_;
  std::size_t position_;
};

protocol::TlsFacts tls_facts(const net::TlsSession& tls) {
  return {tls.peer_common_name(), tls.context().own_end_point_hash()};
}

AuthMethod method_of(config::AuthMethod method) {
  switch (method) {
    case config::AuthMethod::Reject:
      return AuthMethod::Reject;
    case config::AuthMethod::Trust:
      return AuthMethod::Trust;
    case config::AuthMethod::Cert:
      return AuthMethod::Cert;
    case config::AuthMethod::Md5:
      return AuthMethod::Md5;
    case config::AuthMethod::ScramSha256:
      return AuthMethod::ScramSha256;
    case config::AuthMethod::Passthrough:
      return AuthMethod::Passthrough;
  }
  return AuthMethod::Reject;
}

telemetry::LoginMethod label_of(AuthMethod method) {
  switch (method) {
    case AuthMethod::Reject:
      return telemetry::LoginMethod::Reject;
    case AuthMethod::Trust:
      return telemetry::LoginMethod::Trust;
    case AuthMethod::Cert:
      return telemetry::LoginMethod::Cert;
    case AuthMethod::Md5:
      return telemetry::LoginMethod::Md5;
    case AuthMethod::ScramSha256:
      return telemetry::LoginMethod::ScramSha256;
    case AuthMethod::Passthrough:
      return telemetry::LoginMethod::Passthrough;
  }
  return telemetry::LoginMethod::Reject;
}

protocol::LoginNonces fresh_nonces() {
  protocol::LoginNonces nonces;
  random_bytes(nonces.scram);
  random_bytes(nonces.md5_salt);
  return nonces;
}

// What logs in to servers as this user, beside what the client's proof gives.
protocol::ServerCredentials stored_credentials(const Snapshot& snapshot, const std::string& user,
                                               const protocol::Secret& secret) {
  protocol::ServerCredentials credentials;
  if (const auto* hash = std::get_if<protocol::Md5Hash>(&secret)) credentials.md5_hash = hash->text;
  if (const auto plain = snapshot.plain_passwords.find(user); plain != snapshot.plain_passwords.end())
    credentials.password = plain->second;
  return credentials;
}

// The secret to judge a user by: the file's, else the server's. One that cannot be had judges like an unknown
// user's: a stranger must not learn which it was.
asio::awaitable<protocol::Secret> secret_of(Shared& shared, const Snapshot& snapshot,
                                            const std::string& user) {
  const auto stored = snapshot.secrets.find(user);
  if (stored != snapshot.secrets.end()) co_return stored->second;
  if (!snapshot.uses_auth_query()) co_return protocol::UnknownUser{};
  Result<protocol::Secret> found = co_await shared.directory.secret_of(user);
  if (found) co_return *std::move(found);
  log::warning("auth_query failed", {{"user", user}, {"reason", found.error().code.message()}});
  co_return protocol::UnknownUser{};
}

// One connection's start-up: feeds the login machine and does what it wants.
class Reception {
 public:
  Reception(Shared& shared, telemetry::ThreadMetrics& metrics, SnapshotPtr snapshot, net::Stream& stream,
            net::SocketAddress peer, std::string listener, Takes takes)
      : shared_(shared),
        metrics_(metrics),
        snapshot_(std::move(snapshot)),
        stream_(stream),
        origin_{std::move(peer), false, {}},
        listener_(std::move(listener)),
        takes_(takes),
        login_(settings_of(*snapshot_)) {}

  asio::awaitable<Arrived> run() {
    Arrived arrived = co_await receive();
    arrived.origin = std::move(origin_);
    co_return arrived;
  }

 private:
  asio::awaitable<Arrived> receive() {
    const bool known = co_await take_proxy_header();
    if (!known) co_return Arrived{};
    const bool started = co_await detect_direct_tls();
    if (!started) co_return Arrived{};
    for (;;) {
      const ClientLogin::Want want = login_.step();
      Bytes output = login_.take_output();
      if (want == ClientLogin::Want::Authenticated) co_return accepted(std::move(output));
      if (!output.empty() && !co_await stream_.write_all(output)) co_return Arrived{};
      if (want == ClientLogin::Want::Cancel) co_return Arrived{std::nullopt, login_.cancel_request()};
      if (want == ClientLogin::Want::Close) {
        note_refusal();
        stream_.close();
        co_return Arrived{};
      }
      const bool going_on = co_await serve(want);
      if (!going_on) co_return Arrived{};
    }
  }

  // False: the connection is over. It is told nothing, as nobody knows who is there.
  asio::awaitable<bool> take_proxy_header() {
    if (!expects_proxy_header(*snapshot_, listener_, origin_.address)) co_return true;
    net::SocketAddress proxy = origin_.address;
    origin_ = co_await receive_proxy_header(stream_, std::move(proxy));
    if (!origin_.error) co_return true;
    // One that connects and leaves is a health check of the proxy's.
    if (origin_.error == BaseErrc::Closed) co_return false;
    metrics_.count(telemetry::metric::sessions_rejected_total, telemetry::RejectReason::ProtocolViolation);
    log::warning("no PROXY header from a proxy",
                 {{"peer", net::to_string(origin_.address)},
                  {"listener", listener_},
                  {"reason",
                   origin_.error == BaseErrc::Cancelled ? "client_login_timeout" : origin_.error.message()}});
    co_return false;
  }

  static ClientLogin::Settings settings_of(const Snapshot& snapshot) {
    ClientLogin::Settings settings;
    settings.tls_available = snapshot.client_tls != nullptr;
    settings.tls_required = snapshot.client_tls_required;
    settings.mock_secret = snapshot.mock_secret;
    return settings;
  }

  // False: the connection is over.
  asio::awaitable<bool> detect_direct_tls() {
    if (snapshot_->client_tls == nullptr || origin_.address.is_unix) co_return true;
    const auto first = co_await net::peek_first_byte(stream_);
    if (!first) co_return false;
    if (*first != net::kTlsHandshakeRecord) co_return true;
    const bool secured = co_await secure(net::TlsRole::DirectServer);
    if (secured) login_.direct_tls_started(tls_facts(*stream_.tls()));
    co_return secured;
  }

  asio::awaitable<bool> secure(net::TlsRole role) {
    const std::string no_server_name;
    const auto done = co_await stream_.handshake(snapshot_->client_tls, role, no_server_name);
    metrics_.count(telemetry::metric::tls_handshakes_total,
                   done ? telemetry::OkOrFailed::Ok : telemetry::OkOrFailed::Failed);
    co_return done.has_value();
  }

  // What the machine wants of the outside world. False: the connection is over.
  asio::awaitable<bool> serve(ClientLogin::Want want) {
    switch (want) {
      case ClientLogin::Want::Read: {
        const auto count = co_await stream_.read_some(login_.prepare(kClientLoginReadBytes));
        if (!count) co_return false;
        login_.commit(*count);
        co_return true;
      }
      case ClientLogin::Want::StartTls: {
        const bool secured = co_await secure(net::TlsRole::Server);
        if (secured) login_.tls_started(tls_facts(*stream_.tls()));
        co_return secured;
      }
      case ClientLogin::Want::ChooseMethod:
        if (takes_ == Takes::CancelsAlone) {
          login_.refuse({"FATAL", "57P03", "this process lets nobody in any more", "",
                         "Another process serves now, at the addresses of this one."});
        } else {
          co_await choose_method();
        }
        co_return true;
      case ClientLogin::Want::Relay: {
        const ByteView ahead = login_.unread();
        Bytes pipelined(ahead.begin(), ahead.end());
        const auto left = give_up_at_ - std::chrono::steady_clock::now();
        ClientPlace place{origin_.address, net::local_address(stream_.native_handle())};
        // The origin, not the peer: that may be a proxy on this machine.
        const bool secure = stream_.tls() != nullptr || origin_.address.is_unix;
        std::optional<protocol::ErrorFields> refusal = co_await relay_authentication(
            shared_, snapshot_, stream_, secure, login_.startup(), left, pipelined, std::move(place));
        behind_passthrough_ = std::move(pipelined);
        if (refusal) {
          login_.refuse(*std::move(refusal));
        } else {
          login_.passthrough_done(ClientLogin::Passthrough::Succeeded);
        }
        co_return true;
      }
      case ClientLogin::Want::Authenticated:
      case ClientLogin::Want::Cancel:
      case ClientLogin::Want::Close:
        break;
    }
    co_return false;
  }

  asio::awaitable<void> choose_method() {
    const protocol::StartupMessage& startup = login_.startup();
    config::ClientFacts facts = client_facts(startup, origin_.address, listener_);
    facts.tls = stream_.tls() != nullptr;
    const config::HbaRule* rule = config::find_hba_rule(*snapshot_->config, facts);
    identity_.method = rule != nullptr ? method_of(rule->method) : AuthMethod::Reject;
    const protocol::Secret secret = co_await secret_of(shared_, *snapshot_, startup.user);
    identity_.credentials = stored_credentials(*snapshot_, startup.user, secret);
    login_.authenticate(identity_.method, secret, fresh_nonces());
  }

  Arrived accepted(Bytes output) {
    identity_.startup = std::move(login_.startup());
    identity_.asked = protocol::take_sluice_options(identity_.startup);
    // Keys that prove a verifier of our own making, of a plain password, prove nothing to a server.
    if (!identity_.credentials.password) identity_.credentials.client_keys = login_.client_keys();
    identity_.tls = stream_.tls() != nullptr;
    identity_.local = net::local_address(stream_.native_handle());
    if (identity_.tls) identity_.certificate_name = stream_.tls()->peer_common_name();
    if (identity_.method == AuthMethod::Passthrough) protocol::append_authentication_ok(output);
    identity_.output = std::move(output);
    if (behind_passthrough_) {
      identity_.unread = *std::move(behind_passthrough_);
    } else {
      const ByteView unread = login_.unread();
      identity_.unread.assign(unread.begin(), unread.end());
    }
    metrics_.count(telemetry::metric::logins_total, label_of(identity_.method), telemetry::LoginResult::Ok);
    return Arrived{std::move(identity_), std::nullopt};
  }

  void note_refusal() {
    const protocol::ErrorFields* refusal = login_.refusal();
    if (refusal == nullptr) return;
    metrics_.count(telemetry::metric::logins_total, label_of(identity_.method),
                   telemetry::LoginResult::Refused);
    log::info_limited("login refused", {{"peer", net::to_string(origin_.address)},
                                        {"listener", listener_},
                                        {"sqlstate", refusal->sqlstate},
                                        {"reason", refusal->message}});
    // The password may have been changed since the server was asked.
    if (refusal->sqlstate == "28P01" && snapshot_->uses_auth_query() &&
        !snapshot_->secrets.contains(login_.startup().user))
      shared_.directory.forget(login_.startup().user);
  }

  Shared& shared_;
  telemetry::ThreadMetrics& metrics_;
  const SnapshotPtr snapshot_;
  net::Stream& stream_;
  Origin origin_;
  const std::string listener_;
  const Takes takes_;
  const std::chrono::steady_clock::time_point give_up_at_ =
      std::chrono::steady_clock::now() + snapshot_->options().client_login_timeout;
  ClientLogin login_;
  ClientIdentity identity_;
  std::optional<Bytes> behind_passthrough_;  // its relay has read ahead in place of the machine
};

}  // namespace

asio::awaitable<Arrived> receive_client(Shared& shared, telemetry::ThreadMetrics& metrics,
                                        SnapshotPtr snapshot, net::Stream& stream, net::SocketAddress peer,
                                        std::string listener, Takes takes) {
  const config::Options& options = snapshot->options();
  const Unauthenticated place(shared.unauthenticated, metrics);
  if (options.max_unauthenticated > 0 && place.position() > options.max_unauthenticated) {
    metrics.count(telemetry::metric::sessions_rejected_total, telemetry::RejectReason::MaxUnauthenticated);
    stream.close();
    co_return Arrived{};
  }
  net::Deadline deadline(stream.get_executor(), options.client_login_timeout, [&stream] { stream.close(); });
  Reception reception(shared, metrics, snapshot, stream, std::move(peer), std::move(listener), takes);
  co_return co_await reception.run();
}

}  // namespace sluice::router
