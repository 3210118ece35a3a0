#include "router/client_login.h"

#include <utility>

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

constexpr std::size_t kLoginReadBytes = 2048;

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

void count_handshake(telemetry::ThreadMetrics& metrics, bool ok) {
  metrics.count(telemetry::metric::tls_handshakes_total,
                ok ? telemetry::OkOrFailed::Ok : telemetry::OkOrFailed::Failed);
}

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

}  // namespace

asio::awaitable<Arrived> receive_client(Shared& shared, telemetry::ThreadMetrics& metrics,
                                        SnapshotPtr snapshot, net::Stream& stream, net::SocketAddress peer,
                                        std::string listener) {
  const config::Options& options = snapshot->options();
  const Unauthenticated place(shared.unauthenticated, metrics);
  if (options.max_unauthenticated > 0 && place.position() > options.max_unauthenticated) {
    metrics.count(telemetry::metric::sessions_rejected_total, telemetry::RejectReason::MaxUnauthenticated);
    stream.close();
    co_return Arrived{};
  }
  net::Deadline deadline(stream.get_executor(), options.client_login_timeout, [&stream] { stream.close(); });

  ClientLogin::Settings settings;
  settings.tls_available = snapshot->client_tls != nullptr;
  settings.tls_required = snapshot->client_tls_required;
  settings.mock_secret = snapshot->mock_secret;
  ClientLogin login(settings);
  ClientIdentity identity;
  const std::string no_server_name;

  if (snapshot->client_tls != nullptr && !peer.is_unix) {
    const auto first = co_await net::peek_first_byte(stream);
    if (!first) co_return Arrived{};
    if (*first == net::kTlsHandshakeRecord) {
      const auto secured =
          co_await stream.handshake(snapshot->client_tls, net::TlsRole::DirectServer, no_server_name);
      count_handshake(metrics, secured.has_value());
      if (!secured) co_return Arrived{};
      login.direct_tls_started(tls_facts(*stream.tls()));
    }
  }
  for (;;) {
    const ClientLogin::Want want = login.step();
    Bytes output = login.take_output();
    if (want == ClientLogin::Want::Authenticated) {
      identity.startup = std::move(login.startup());
      identity.asked = protocol::take_sluice_options(identity.startup);
      // Keys that prove a verifier of our own making, of a plain password, prove nothing to a server.
      if (!identity.credentials.password) identity.credentials.client_keys = login.client_keys();
      identity.tls = stream.tls() != nullptr;
      if (identity.tls) identity.certificate_name = stream.tls()->peer_common_name();
      if (identity.method == AuthMethod::Passthrough) protocol::append_authentication_ok(output);
      identity.output = std::move(output);
      const ByteView unread = login.unread();
      identity.unread.assign(unread.begin(), unread.end());
      metrics.count(telemetry::metric::logins_total, label_of(identity.method), telemetry::LoginResult::Ok);
      co_return Arrived{std::move(identity), std::nullopt};
    }
    if (!output.empty()) {
      if (!co_await stream.write_all(output)) co_return Arrived{};
    }
    switch (want) {
      case ClientLogin::Want::Read: {
        const auto count = co_await stream.read_some(login.prepare(kLoginReadBytes));
        if (!count) co_return Arrived{};
        login.commit(*count);
        break;
      }
      case ClientLogin::Want::StartTls: {
        const auto secured =
            co_await stream.handshake(snapshot->client_tls, net::TlsRole::Server, no_server_name);
        count_handshake(metrics, secured.has_value());
        if (!secured) co_return Arrived{};
        login.tls_started(tls_facts(*stream.tls()));
        break;
      }
      case ClientLogin::Want::ChooseMethod: {
        const protocol::StartupMessage& startup = login.startup();
        config::ClientFacts facts = client_facts(startup, peer, listener);
        facts.tls = stream.tls() != nullptr;
        const config::HbaRule* rule = config::find_hba_rule(*snapshot->config, facts);
        identity.method = rule != nullptr ? method_of(rule->method) : AuthMethod::Reject;
        const protocol::Secret secret = co_await secret_of(shared, *snapshot, startup.user);
        identity.credentials = stored_credentials(*snapshot, startup.user, secret);
        login.authenticate(identity.method, secret, fresh_nonces());
        break;
      }
      case ClientLogin::Want::Relay:
        if (auto refusal = co_await relay_authentication(shared, snapshot, stream, login.startup())) {
          login.refuse(*std::move(refusal));
        } else {
          login.passthrough_done(ClientLogin::Passthrough::Succeeded);
        }
        break;
      case ClientLogin::Want::Cancel:
        co_return Arrived{std::nullopt, login.cancel_request()};
      case ClientLogin::Want::Authenticated:
        break;
      case ClientLogin::Want::Close:
        if (const protocol::ErrorFields* refusal = login.refusal()) {
          metrics.count(telemetry::metric::logins_total, label_of(identity.method),
                        telemetry::LoginResult::Refused);
          log::info("login refused", {{"peer", net::to_string(peer)},
                                      {"listener", listener},
                                      {"sqlstate", refusal->sqlstate},
                                      {"reason", refusal->message}});
          // The password may have been changed since the server was asked.
          if (refusal->sqlstate == "28P01" && snapshot->uses_auth_query() &&
              !snapshot->secrets.contains(login.startup().user))
            shared.directory.forget(login.startup().user);
        }
        stream.close();
        co_return Arrived{};
    }
  }
}

}  // namespace sluice::router
