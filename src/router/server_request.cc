#include "router/server_request.h"

#include <algorithm>
#include <utility>

namespace sluice::router {
namespace {

bool ignored(const Snapshot& snapshot, const std::string& name) {
  const auto& names = snapshot.config->options.ignore_startup_parameters;
  return std::find(names.begin(), names.end(), name) != names.end();
}

// PgBouncer's application_name_add_host form, with class and host of ours where asked.
std::string application_name(const Snapshot& snapshot, std::string name, const SessionTag& tag,
                             const net::SocketAddress& peer) {
  const config::Options& options = snapshot.config->options;
  if (options.application_name_add_host) name += (name.empty() ? "" : " - ") + net::to_string(peer);
  if (options.application_name_add_class) {
    name += (name.empty() ? "[" : " [") + snapshot.class_name(tag.priority);
    if (!tag.host.empty()) name += "@" + tag.host;
    name += "]";
  }
  return name;
}

}  // namespace

std::vector<ServerRequest> server_requests(const Snapshot& snapshot, const ClientIdentity& identity,
                                           ServerId server, const std::string& database,
                                           const SessionTag& tag, const net::SocketAddress& peer) {
  const protocol::StartupMessage& startup = identity.startup;
  ServerRequest request;
  request.server = server;
  request.parameters.reserve(startup.parameters.size() + 5);
  request.parameters = {{"user", startup.user}, {"database", database}};
  if (startup.replication != protocol::Replication::Off)
    request.parameters.emplace_back(
        "replication", startup.replication == protocol::Replication::Physical ? "true" : "database");
  if (!startup.options.empty()) request.parameters.emplace_back("options", startup.options);
  bool named = false;
  for (const auto& [name, value] : startup.parameters) {
    if (ignored(snapshot, name)) continue;
    const bool is_name = name == "application_name";
    named = named || is_name;
    request.parameters.emplace_back(name, is_name ? application_name(snapshot, value, tag, peer) : value);
  }
  if (const std::string name = application_name(snapshot, "", tag, peer); !named && !name.empty())
    request.parameters.emplace_back("application_name", name);
  request.credentials = identity.credentials;
  if (snapshot.tells_places) request.place = ClientPlace{peer, identity.local};

  std::vector<ServerRequest> requests;
  const std::string& server_user = snapshot.config->options.server_user;
  const bool has_own =
      request.credentials.client_keys || request.credentials.md5_hash || request.credentials.password;
  if (server_user.empty()) {
    requests.push_back(std::move(request));
    return requests;
  }
  if (has_own) requests.push_back(request);
  request.parameters[0].second = server_user;
  request.credentials = {};
  request.credentials.password = snapshot.config->passwords.server_user;
  requests.push_back(std::move(request));
  return requests;
}

std::string way_key(const Snapshot& snapshot, const ServerRequest& request) {
  std::string key = std::to_string(request.server.value());
  if (const auto server = snapshot.servers.find(request.server); server != snapshot.servers.end()) {
    const net::ConnectTarget& target = server->second.target;
    key += '\0' + target.host + '\0' + std::to_string(target.port);
    if (server->second.proxy_protocol != config::ProxyProtocol::Off && request.place)
      key += '\0' + request.place->key();
  }
  return key + '\0' + std::to_string(static_cast<int>(snapshot.server_sslmode));
}

std::string pool_key(const Snapshot& snapshot, const ServerRequest& request) {
  // Names and values hold no zero byte: they came in, and go out, as zero-terminated strings.
  std::string key = way_key(snapshot, request);
  for (const auto& [name, value] : request.parameters) {
    key += '\0';
    key += name;
    key += '\0';
    key += value;
  }
  return key;
}

}  // namespace sluice::router
