#include "router/classify.h"

#include <utility>

#include "config/match.h"
#include "telemetry/log.h"

namespace sluice::router {
namespace {

using protocol::ErrorFields;

ErrorFields no_such_database(const std::string& name) {
  return {"FATAL", "3D000", "database \"" + name + "\" does not exist", "", ""};
}

}  // namespace

std::optional<bool> means_primary(std::string_view target) noexcept {
  if (target == "primary" || target == "read-write") return true;
  if (target == "replicas" || target == "replica" || target == "read-only" || target == "standby")
    return false;
  return std::nullopt;
}

asio::awaitable<Classified> classify(Shared& shared, SnapshotPtr snapshot, const ClientIdentity& identity,
                                     const net::SocketAddress& peer, const std::string& listener) {
  const config::Config& config = *snapshot->config;
  Classified result;
  config::ClientFacts facts = client_facts(identity.startup, peer, listener);
  facts.certificate_name = identity.certificate_name;
  facts.tls = identity.tls;

  std::vector<std::string> roles;
  if (config::uses_roles(config)) {
    Result<std::vector<std::string>> found = co_await shared.directory.roles_of(identity.startup.user);
    if (found) {
      roles = *std::move(found);
    } else {
      log::warning("role lookup failed",
                   {{"user", identity.startup.user}, {"reason", found.error().code.message()}});
    }
    facts.roles = roles;
  }
  result.priority =
      snapshot->class_ids[config::find_class(config, facts, identity.asked.priority.value_or(""))];
  const config::OriginHost* host = config::find_host(config, facts, identity.asked.host.value_or(""));
  if (host != nullptr) result.host = host->name;

  const config::Database* database = config::find_database(config, identity.startup.database);
  if (database == nullptr) {
    result.refusal = no_such_database(identity.startup.database);
    co_return result;
  }
  result.database = database;
  result.server_database =
      database->server_database.empty() ? identity.startup.database : database->server_database;
  result.primary = database->target == config::Target::Primary;
  if (const auto& target = identity.asked.target) {
    if (const auto primary = means_primary(*target)) {
      result.primary = *primary;
    } else {
      result.refusal =
          ErrorFields{"FATAL", "22023", "invalid value for sluice.target: \"" + *target + "\"", "",
                      "Valid values are \"primary\" (or \"read-write\") and \"replicas\" (or \"replica\", "
                      "\"read-only\", \"standby\")."};
    }
  }
  if (!identity.asked.unknown.empty())
    result.refusal = ErrorFields{
        "FATAL", "42704", "unrecognized configuration parameter \"" + identity.asked.unknown.front() + "\"",
        "", "Sluice knows sluice.priority, sluice.host, sluice.target and sluice.size."};
  co_return result;
}

config::ClientFacts client_facts(const protocol::StartupMessage& startup, const net::SocketAddress& peer,
                                 const std::string& listener) {
  config::ClientFacts facts;
  facts.user = startup.user;
  facts.database = startup.database;
  facts.application_name = parameter(startup, "application_name");
  facts.listener = listener;
  facts.address =
      peer.is_unix ? config::unix_address() : config::parse_address(peer.address).value_or(config::Address{});
  return facts;
}

std::string_view parameter(const protocol::StartupMessage& startup, std::string_view name) noexcept {
  // PostgreSQL applies repeats in order: the last one counts.
  std::string_view value;
  for (const protocol::Parameter& p : startup.parameters)
    if (p.first == name) value = p.second;
  return value;
}

}  // namespace sluice::router
