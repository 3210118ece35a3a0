#include "config/match.h"

#include <algorithm>

namespace sluice::config {
namespace {

bool contains_text(std::span<const std::string> list, std::string_view text) {
  return list.empty() || std::find(list.begin(), list.end(), text) != list.end();
}

bool in_networks(const Networks& networks, const Address& address) {
  return networks.empty() || contains_any(networks, address);
}

bool has_role(std::span<const std::string> wanted, std::span<const std::string> roles) {
  return wanted.empty() || std::any_of(roles.begin(), roles.end(), [&](const std::string& role) {
           return std::find(wanted.begin(), wanted.end(), role) != wanted.end();
         });
}

bool tls_matches(TlsUse use, bool tls) {
  switch (use) {
    case TlsUse::Any:
      return true;
    case TlsUse::Required:
      return tls;
    case TlsUse::Off:
      return !tls;
  }
  return false;
}

bool rule_matches(const ClassRule& rule, const ClientFacts& facts) {
  return matches_any(rule.user, facts.user) && matches_any(rule.database, facts.database) &&
         matches_any(rule.application_name, facts.application_name) &&
         in_networks(rule.network, facts.address) && contains_text(rule.listener, facts.listener) &&
         (rule.certificate_name.empty() ||
          (!facts.certificate_name.empty() && matches_any(rule.certificate_name, facts.certificate_name))) &&
         has_role(rule.role, facts.roles);
}

bool trusts(std::span<const std::string> users, const Networks& networks, const ClientFacts& facts) {
  return (!users.empty() && matches_any(users, facts.user)) || contains_any(networks, facts.address);
}

bool trusts_host_option(const Options& options, const ClientFacts& facts) {
  return trusts(options.trust_host_option_users, options.trust_host_option_networks, facts);
}

}  // namespace

bool trusts_size_option(const Config& config, const ClientFacts& facts) {
  return trusts(config.options.trust_size_option_users, config.options.trust_size_option_networks, facts);
}

// Greedy with one point to come back to, the last star: quadratic at worst, whatever the pattern.
bool matches_pattern(std::string_view pattern, std::string_view text) {
  std::size_t p = 0;
  std::size_t star = pattern.npos;
  std::size_t star_text = 0;
  for (std::size_t t = 0; t < text.size();) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_text = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != pattern.npos) {
      p = star + 1;
      t = ++star_text;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*')
    ++p;
  return p == pattern.size();
}

bool matches_any(std::span<const std::string> patterns, std::string_view text) {
  return patterns.empty() || std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
           return matches_pattern(pattern, text);
         });
}

const HbaRule* find_hba_rule(const Config& config, const ClientFacts& facts) {
  const auto rule = std::find_if(config.hba.begin(), config.hba.end(), [&](const HbaRule& r) {
    return in_networks(r.network, facts.address) && matches_any(r.user, facts.user) &&
           matches_any(r.database, facts.database) && tls_matches(r.tls, facts.tls);
  });
  return rule == config.hba.end() ? nullptr : &*rule;
}

std::optional<std::size_t> class_index(const Config& config, std::string_view name) {
  for (std::size_t i = 0; i < config.classes.size(); ++i)
    if (config.classes[i].name == name) return i;
  return std::nullopt;
}

std::size_t find_class(const Config& config, const ClientFacts& facts, std::string_view requested_class) {
  if (!requested_class.empty()) {
    const std::optional<std::size_t> requested = class_index(config, requested_class);
    // Without a list nobody may ask, unlike elsewhere, where no list means anybody.
    if (requested && !config.classes[*requested].may_request.empty() &&
        matches_any(config.classes[*requested].may_request, facts.user))
      return *requested;
  }
  const auto rule = std::find_if(config.rules.begin(), config.rules.end(),
                                 [&](const ClassRule& r) { return rule_matches(r, facts); });
  const std::string& name = rule == config.rules.end() ? config.options.default_class : rule->class_name;
  return class_index(config, name).value_or(config.classes.empty() ? 0 : config.classes.size() - 1);
}

bool matches_budget(const Budget& budget, const ClientFacts& facts, std::string_view class_name) {
  const std::vector<std::string>& classes = budget.class_names;
  return (classes.empty() || std::find(classes.begin(), classes.end(), class_name) != classes.end()) &&
         matches_any(budget.user, facts.user) && matches_any(budget.database, facts.database) &&
         matches_any(budget.application_name, facts.application_name);
}

bool uses_roles(const Config& config) {
  return std::any_of(config.rules.begin(), config.rules.end(),
                     [](const ClassRule& r) { return !r.role.empty(); });
}

const OriginHost* find_host(const Config& config, const ClientFacts& facts, std::string_view requested_host) {
  if (!requested_host.empty() && trusts_host_option(config.options, facts)) {
    const auto named = std::find_if(config.hosts.begin(), config.hosts.end(),
                                    [&](const OriginHost& h) { return h.name == requested_host; });
    if (named != config.hosts.end()) return &*named;
  }
  const OriginHost* best = nullptr;
  int best_bits = -1;
  for (const OriginHost& host : config.hosts) {
    for (const Network& network : host.networks) {
      if (network.prefix_bits <= best_bits || !contains(network, facts.address)) continue;
      best = &host;
      best_bits = network.prefix_bits;
    }
  }
  return best;
}

const Database* find_database(const Config& config, std::string_view name) {
  const Database* any = nullptr;
  for (const Database& database : config.databases) {
    if (database.name == name && name != "*") return &database;
    if (database.name == "*" && any == nullptr) any = &database;
  }
  return any;
}

const UserSettings* find_user_settings(const Config& config, std::string_view user) {
  const auto found = std::find_if(config.user_settings.begin(), config.user_settings.end(),
                                  [&](const UserSettings& s) { return matches_any(s.name, user); });
  return found == config.user_settings.end() ? nullptr : &*found;
}

ProxyProtocol proxy_protocol_of(const Config& config, const Server& server) {
  switch (server.proxy_protocol) {
    case ProxyProtocolOf::Inherited:
      break;
    case ProxyProtocolOf::Off:
      return ProxyProtocol::Off;
    case ProxyProtocolOf::V1:
      return ProxyProtocol::V1;
    case ProxyProtocolOf::V2:
      return ProxyProtocol::V2;
  }
  return config.options.server_proxy_protocol;
}

PoolMode pool_mode_of(const Config& config, const Database& database, std::string_view user) {
  const UserSettings* const settings = find_user_settings(config, user);
  for (const PoolModeOf mode :
       {settings != nullptr ? settings->pool_mode : PoolModeOf::Inherited, database.pool_mode}) {
    if (mode == PoolModeOf::Session) return PoolMode::Session;
    if (mode == PoolModeOf::Transaction) return PoolMode::Transaction;
  }
  return config.options.pool_mode;
}

}  // namespace sluice::config
