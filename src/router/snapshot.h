#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/policy/budgets.h"
#include "sluice/policy/ids.h"

#include "config/config.h"
#include "mirror/source.h"
#include "net/connect.h"
#include "net/socket_options.h"
#include "net/tls_context.h"
#include "protocol/secret.h"
#include "protocol/server_login.h"
#include "router/ids.h"
#include "router/server_pool.h"
#include "telemetry/labels.h"

namespace sluice::router {

class Admission;
class TelemetryNames;

// A PostgreSQL server as sessions reach it.
struct ServerEndpoint {
  std::string name;
  net::ConnectTarget target;
  std::uint16_t control_port = 0;  // of our own connections; 0: the target's
  std::string tls_name{};          // that its certificate has to have, where it is not the target's host
  config::ProxyProtocol proxy_protocol = config::ProxyProtocol::Off;

  // Whether a connection that was opened to one is as good for the other: what was sent ahead on it counts,
  // too.
  bool same_connections(const ServerEndpoint& other) const noexcept {
    return target == other.target && proxy_protocol == other.proxy_protocol;
  }
  const std::string& verified_name() const noexcept { return tls_name.empty() ? target.host : tls_name; }
};
ServerEndpoint endpoint_of(const config::Config& config, const config::Server& server);

// What a configuration names outside itself, read and checked: certificates, keys, secrets.
struct Materials {
  std::shared_ptr<const net::TlsContext> client_tls;                // null: clients are not offered TLS
  std::shared_ptr<const net::TlsContext> server_tls;                // null: sslmode is disable
  std::map<std::string, protocol::Secret, std::less<>> secrets;     // auth_file; plain passwords as verifiers
  std::map<std::string, std::string, std::less<>> plain_passwords;  // its plain entries: a way on to servers
  std::vector<mirror::Source> patroni;                              // addresses of its REST API
  std::shared_ptr<const net::TlsContext> patroni_tls;               // null: none of them is https
};
// On failure nullopt, and `problem` is a sentence that names what is at fault.
std::optional<Materials> load_materials(const config::Config& config, ByteView mock_secret,
                                        std::string& problem);

// Everything that a session reads of the configuration, made once per load. Immutable and replaced whole on
// reload; a session keeps the snapshot that it began with.
struct Snapshot : Materials {
  std::shared_ptr<const config::Config> config;
  std::map<ServerId, ServerEndpoint> servers;  // replicas, and the primary under kPrimary
  std::vector<policy::ClassId> class_ids;      // of config->classes, in their order
  std::vector<policy::BudgetId> budget_ids;    // of config->budgets, likewise
  std::vector<std::string> class_names;        // by ClassId, of removed classes too
  bool tells_places = false;                   // some server is to be told where clients are
  bool client_tls_required = false;
  protocol::SslMode server_sslmode = protocol::SslMode::Disable;
  net::SocketOptions socket_options;
  ServerPool::Limits pool_limits;
  std::vector<telemetry::DatabaseLabel> database_labels;           // of config->databases, in their order
  std::map<std::string, std::uint32_t, std::less<>> host_numbers;  // of origin hosts, "" where none is known
  ByteView mock_secret;                                            // of the process

  const config::Options& options() const noexcept { return config->options; }
  bool uses_auth_query() const noexcept { return !config->options.auth_user.empty(); }
  // The names of what may be gone from the configuration, for logs and the console.
  std::string server_name(ServerId server) const;
  std::string class_name(policy::ClassId id) const;
  // `database` is an entry of config->databases.
  telemetry::DatabaseLabel database_label(const config::Database* database) const;
  // The number behind the host's HostLabel. `host` is a name of config->hosts, or "".
  std::uint32_t host_number(std::string_view host) const;
};
using SnapshotPtr = std::shared_ptr<const Snapshot>;

// Makes the snapshot of a configuration whose pools `admission` and whose databases `names` know already.
SnapshotPtr make_snapshot(std::shared_ptr<const config::Config> config, Materials materials,
                          const Admission& admission, const TelemetryNames& names, ByteView mock_secret);

}  // namespace sluice::router
