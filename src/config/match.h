#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"

// Which rule of a configuration applies to a client. Pure: facts in, entry out. Views returned live as long
// as the configuration. Costs are linear in the rules; patterns are matched in O(pattern x text) at worst.
namespace sluice::config {

// What is known of a client when its session is classified. Unknown texts are empty.
struct ClientFacts {
  std::string_view user;
  std::string_view database;          // as the client calls it
  std::string_view application_name;  //
  std::string_view listener;          // name of the listener it came in through
  std::string_view certificate_name;  // common name of its verified certificate
  Address address;
  bool tls = false;
  std::span<const std::string> roles;  // that the user is a member of; needed only where uses_roles()
};

// * stands for any characters, ? for one byte, everything else for itself.
bool matches_pattern(std::string_view pattern, std::string_view text);
// True too when there are no patterns.
bool matches_any(std::span<const std::string> patterns, std::string_view text);

// First hba rule whose network, user, database and tls all match. nullptr: refuse the client.
const HbaRule* find_hba_rule(const Config&, const ClientFacts&);

// Index into config.classes: the class asked for by sluice.priority (empty = none) where the user may ask for
// it, else that of the first rule that matches in every part it names, else default_class.
std::size_t find_class(const Config&, const ClientFacts&, std::string_view requested_class = {});
std::optional<std::size_t> class_index(const Config&, std::string_view name);
// Whether what a budget says of sessions holds for one, whatever its transactions' routes.
bool matches_budget(const Budget&, const ClientFacts&, std::string_view class_name);
// Whether any rule names a role, so that the user's roles must be known before find_class.
bool uses_roles(const Config&);

// The host asked for by sluice.host (empty = none) where the client is trusted to say so and a host has that
// name, else the one with the longest network around the address, the first of equals. nullptr: unknown host.
const OriginHost* find_host(const Config&, const ClientFacts&, std::string_view requested_host = {});

// Whether the client is believed what it says in sluice.size.
bool trusts_size_option(const Config&, const ClientFacts&);

// The first entry of `users` that names the user; nullptr: none does.
const UserSettings* find_user_settings(const Config&, std::string_view user);
// That of the server's own entry, else the general one.
ProxyProtocol proxy_protocol_of(const Config&, const Server&);
// That of the user, else of the database, else the general one. `database` is an entry of config.databases.
PoolMode pool_mode_of(const Config&, const Database& database, std::string_view user);

// The entry with that name, else the entry "*". nullptr: there is no such database.
const Database* find_database(const Config&, std::string_view name);

}  // namespace sluice::config
