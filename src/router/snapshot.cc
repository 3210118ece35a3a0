#include "router/snapshot.h"

#include <algorithm>
#include <utility>

#include "config/match.h"
#include "protocol/crypto.h"
#include "protocol/scram_server.h"
#include "router/admission.h"
#include "router/telemetry_names.h"

namespace sluice::router {
namespace {

using config::SslMode;

net::TlsVersions tls_versions(config::TlsProtocols protocols) {
  switch (protocols) {
    case config::TlsProtocols::Secure:
      return {};
    case config::TlsProtocols::Tls12:
      return {net::TlsVersion::Tls12, net::TlsVersion::Tls12};
    case config::TlsProtocols::Tls13:
      return {net::TlsVersion::Tls13, net::TlsVersion::Tls13};
  }
  return {};
}

// Clients are asked for a certificate where anything depends on it: the mode, an hba rule or a class rule.
net::ClientCertificate client_certificate(const config::Config& config) {
  const config::Options& options = config.options;
  if (options.client_tls_sslmode == SslMode::VerifyCa || options.client_tls_sslmode == SslMode::VerifyFull)
    return net::ClientCertificate::Require;
  if (options.client_tls_ca_file.empty()) return net::ClientCertificate::Ignore;
  return net::ClientCertificate::Request;
}

std::shared_ptr<const net::TlsContext> client_side(const config::Config& config, std::string& problem) {
  const config::Options& options = config.options;
  net::TlsServerSettings settings;
  settings.certificate_file = options.client_tls_cert_file;
  settings.key_file = options.client_tls_key_file;
  settings.ca_file = options.client_tls_ca_file;
  settings.client_certificate = client_certificate(config);
  settings.versions = tls_versions(options.client_tls_protocols);
  settings.ciphers = options.client_tls_ciphers;
  auto made = net::TlsContext::server(settings, problem);
  return made ? *std::move(made) : nullptr;
}

std::shared_ptr<const net::TlsContext> server_side(const config::Config& config, std::string& problem) {
  const config::Options& options = config.options;
  net::TlsClientSettings settings;
  settings.ca_file = options.server_tls_ca_file;
  // As libpq: `require` with a CA file checks against it.
  if (options.server_tls_sslmode == SslMode::VerifyFull) {
    settings.verification = net::PeerVerification::Full;
  } else if (options.server_tls_sslmode == SslMode::VerifyCa ||
             (options.server_tls_sslmode == SslMode::Require && !settings.ca_file.empty())) {
    settings.verification = net::PeerVerification::Ca;
  }
  settings.certificate_file = options.server_tls_cert_file;
  settings.key_file = options.server_tls_key_file;
  settings.versions = tls_versions(options.server_tls_protocols);
  settings.ciphers = options.server_tls_ciphers;
  auto made = net::TlsContext::client(settings, problem);
  return made ? *std::move(made) : nullptr;
}

protocol::SslMode sslmode(SslMode mode) {
  switch (mode) {
    case SslMode::Disable:
      return protocol::SslMode::Disable;
    case SslMode::Allow:
      return protocol::SslMode::Allow;
    case SslMode::Prefer:
      return protocol::SslMode::Prefer;
    case SslMode::Require:
      return protocol::SslMode::Require;
    case SslMode::VerifyCa:
      return protocol::SslMode::VerifyCa;
    case SslMode::VerifyFull:
      return protocol::SslMode::VerifyFull;
  }
  return protocol::SslMode::VerifyFull;
}

net::SocketOptions socket_options(const config::Options& options) {
  net::SocketOptions made;
  made.keepalive = options.tcp_keepalive;
  made.keepalive_idle = options.tcp_keepidle;
  made.keepalive_interval = options.tcp_keepintvl;
  made.keepalive_count = static_cast<int>(options.tcp_keepcnt);
  made.user_timeout = options.tcp_user_timeout;
  return made;
}

// Without a path the one that Patroni has for it.
bool add_patroni(Materials& materials, const config::Config& config, std::string& problem) {
  const config::Options& options = config.options;
  bool secure = false;
  for (const std::string& url : options.patroni_urls) {
    auto source = mirror::Source::parse(url, problem, mirror::Source::Https::Allowed);
    if (!source) {
      problem = "patroni_urls: \"" + url + "\": " + problem;
      return false;
    }
    if (source->path == mirror::Source{}.path) source->path = "/cluster";
    if (!options.patroni_user.empty()) {
      const std::string proof = options.patroni_user + ":" + config.passwords.patroni_user;
      source->authorization = "Basic " + protocol::base64_encode(as_bytes(proof));
    }
    secure = secure || source->secure;
    materials.patroni.push_back(*std::move(source));
  }
  if (!secure) return true;
  net::TlsClientSettings settings;
  settings.ca_file = options.patroni_tls_ca_file;
  if (!settings.ca_file.empty()) settings.verification = net::PeerVerification::Full;
  settings.certificate_file = options.patroni_tls_cert_file;
  settings.key_file = options.patroni_tls_key_file;
  auto made = net::TlsContext::client(settings, problem);
  if (!made) return false;
  materials.patroni_tls = *std::move(made);
  return true;
}

// Plain passwords get a verifier now, once: deriving one at login would tell known users from unknown ones by
// time.
bool add_secrets(Materials& materials, const config::Config& config, ByteView mock_secret,
                 std::string& problem) {
  for (const config::UserEntry& user : config.users) {
    Result<protocol::Secret> secret = protocol::parse_secret(user.secret);
    if (!secret) {
      problem = "the secret of user \"" + user.name +
                "\" in auth_file cannot be read: " + secret.error().code.message();
      return false;
    }
    if (const auto* plain = std::get_if<protocol::PlainPassword>(&*secret)) {
      materials.plain_passwords.emplace(user.name, plain->password);
      secret = protocol::Secret(protocol::scram_verifier_for(user.name, plain->password, mock_secret));
    }
    materials.secrets.emplace(user.name, *std::move(secret));
  }
  return true;
}

}  // namespace

ServerEndpoint endpoint_of(const config::Config& config, const config::Server& server) {
  ServerEndpoint made;
  made.name = server.name;
  made.target.host = server.hostaddr.empty() ? server.host : server.hostaddr;
  made.target.port = static_cast<std::uint16_t>(server.port);
  made.control_port = static_cast<std::uint16_t>(server.control_port);
  if (!server.hostaddr.empty()) made.tls_name = server.host;
  made.proxy_protocol = config::proxy_protocol_of(config, server);
  return made;
}

std::string Snapshot::server_name(ServerId server) const {
  const auto found = servers.find(server);
  return found == servers.end() ? "(removed)" : found->second.name;
}

std::string Snapshot::class_name(policy::ClassId id) const {
  return id.value() < class_names.size() ? class_names[id.value()] : "(removed)";
}

telemetry::DatabaseLabel Snapshot::database_label(const config::Database* database) const {
  return database_labels[static_cast<std::size_t>(database - config->databases.data())];
}

std::uint32_t Snapshot::host_number(std::string_view host) const {
  const auto found = host_numbers.find(host);
  return found == host_numbers.end() ? host_numbers.at("") : found->second;
}

std::optional<Materials> load_materials(const config::Config& config, ByteView mock_secret,
                                        std::string& problem) {
  Materials materials;
  if (config.options.client_tls_sslmode != SslMode::Disable) {
    materials.client_tls = client_side(config, problem);
    if (!materials.client_tls) return std::nullopt;
  }
  if (config.options.server_tls_sslmode != SslMode::Disable) {
    materials.server_tls = server_side(config, problem);
    if (!materials.server_tls) return std::nullopt;
  }
  if (!add_patroni(materials, config, problem)) return std::nullopt;
  if (!add_secrets(materials, config, mock_secret, problem)) return std::nullopt;
  return materials;
}

SnapshotPtr make_snapshot(std::shared_ptr<const config::Config> config, Materials materials,
                          const Admission& admission, const TelemetryNames& names, ByteView mock_secret) {
  auto made = std::make_shared<Snapshot>();
  static_cast<Materials&>(*made) = std::move(materials);
  made->config = std::move(config);
  made->mock_secret = mock_secret;
  const config::Config& c = *made->config;
  for (const config::Server& replica : c.replicas)
    made->servers.emplace(ServerId(admission.find_replica(replica.name)->value()), endpoint_of(c, replica));
  if (c.primary) made->servers.emplace(kPrimary, endpoint_of(c, *c.primary));
  made->tells_places = std::any_of(made->servers.begin(), made->servers.end(), [](const auto& entry) {
    return entry.second.proxy_protocol != config::ProxyProtocol::Off;
  });
  for (const config::PriorityClass& entry : c.classes) {
    const policy::ClassId id = *admission.find_class(entry.name);
    made->class_ids.push_back(id);
    if (made->class_names.size() <= id.value()) made->class_names.resize(id.value() + 1, "(removed)");
    made->class_names[id.value()] = entry.name;
  }
  for (const config::Budget& entry : c.budgets)
    made->budget_ids.push_back(*admission.find_budget(entry.name));
  for (const config::Database& database : c.databases)
    made->database_labels.push_back(names.database(database.name));
  for (const config::OriginHost& host : c.hosts)
    made->host_numbers.emplace(host.name, names.host(host.name).value());
  made->host_numbers.emplace("", names.host(TelemetryNames::kOtherHost).value());
  made->client_tls_required = c.options.client_tls_sslmode == SslMode::Require ||
                              c.options.client_tls_sslmode == SslMode::VerifyCa ||
                              c.options.client_tls_sslmode == SslMode::VerifyFull;
  made->server_sslmode = sslmode(c.options.server_tls_sslmode);
  made->socket_options = socket_options(c.options);
  const std::size_t per_server = c.options.max_idle_server_connections;
  made->pool_limits = {per_server, per_server * made->servers.size(), c.options.server_idle_timeout,
                       c.options.server_lifetime};
  return made;
}

}  // namespace sluice::router
