#pragma once

#include <optional>
#include <string>

#include <asio/awaitable.hpp>

#include "sluice/policy/ids.h"

#include "config/match.h"
#include "net/socket_address.h"
#include "protocol/error_response.h"
#include "router/client_login.h"
#include "router/shared.h"
#include "router/snapshot.h"

namespace sluice::router {

// Which class a session has, where it comes from, and what it is to be assigned to.
struct Classified {
  policy::ClassId priority;
  std::string host;                              // "" = none of the configured hosts
  bool primary = false;                          // the primary, not a replica
  const config::Database* database = nullptr;    // its entry; null with a refusal alone
  std::string server_database;                   // what the server calls the client's database
  std::optional<protocol::ErrorFields> refusal;  // the session asked for what it may not have
};

// The first rule that matches decides; `sluice.priority`, `sluice.host` and `sluice.target` of the start-up
// count where the configuration trusts the user with them, and are refused, not ignored, where it does not.
asio::awaitable<Classified> classify(Shared& shared, SnapshotPtr snapshot, const ClientIdentity& identity,
                                     const net::SocketAddress& peer, const std::string& listener);

// What rules may look at. The views live as long as the arguments.
config::ClientFacts client_facts(const protocol::StartupMessage& startup, const net::SocketAddress& peer,
                                 const std::string& listener);
// What sluice.target says, in its own words or those of libpq's target_session_attrs; nothing for other
// words.
std::optional<bool> means_primary(std::string_view target) noexcept;
// A start-up parameter, the last of its repeats; "" when absent.
std::string_view parameter(const protocol::StartupMessage& startup, std::string_view name) noexcept;

}  // namespace sluice::router
