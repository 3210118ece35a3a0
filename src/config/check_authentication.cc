#include <algorithm>
#include <string>

#include "config/checks.h"
#include "config/match.h"
#include "config/userlist.h"

namespace sluice::config {
namespace {

bool is_pattern(const std::string& text) {
  return text.find_first_of("*?") != text.npos;
}

bool is_console_only(const HbaRule& rule) {
  return !rule.database.empty() &&
         std::all_of(rule.database.begin(), rule.database.end(),
                     [](const std::string& d) { return d == "sluice" || d == "pgbouncer"; });
}

bool covers_beyond_loopback(const HbaRule& rule) {
  return rule.network.empty() || !std::all_of(rule.network.begin(), rule.network.end(),
                                              [](const Network& network) { return is_loopback(network); });
}

// Whether the rule's users are all in auth_file with a secret that logs in to PostgreSQL by itself.
bool secrets_lead_on(const Config& config, const HbaRule& rule) {
  return !rule.user.empty() && std::all_of(rule.user.begin(), rule.user.end(), [&](const std::string& name) {
    const UserEntry* const user = is_pattern(name) ? nullptr : find_user(config, name);
    if (user == nullptr) return false;
    const SecretKind kind = secret_kind(user->secret);
    return kind == SecretKind::Plain || kind == SecretKind::Md5;
  });
}

// A client that authenticated without showing a secret leaves us nothing to log in to PostgreSQL with.
void check_way_on(const Config& config, const HbaRule& rule, const std::string& path, Reporter& reporter) {
  const bool leaves_nothing = rule.method == AuthMethod::Trust || rule.method == AuthMethod::Cert ||
                              rule.method == AuthMethod::Passthrough;
  if (!leaves_nothing || !config.options.server_user.empty() || is_console_only(rule)) return;
  if (rule.method != AuthMethod::Passthrough && secrets_lead_on(config, rule)) return;
  reporter.error(path,
                 std::string(word_of(rule.method)) +
                     " lets clients in whom no server lets in: nothing of theirs can be used to log in there",
                 "set server_user, or use scram-sha-256");
}

// Users of auth_file whom the rule lets try with a secret that its method does not use.
std::vector<std::string_view> users_with(const Config& config, const HbaRule& rule, SecretKind kind) {
  std::vector<std::string_view> names;
  for (const UserEntry& user : config.users) {
    if (secret_kind(user.secret) != kind || !matches_any(rule.user, user.name)) continue;
    // A rule above may be the one that holds for this user.
    const auto first = std::find_if(config.hba.begin(), config.hba.end(), [&](const HbaRule& each) {
      return &each == &rule || (!each.user.empty() && matches_any(each.user, user.name));
    });
    if (&*first == &rule) names.push_back(user.name);
  }
  return names;
}

void check_secret_kinds(const Config& config, const HbaRule& rule, const std::string& path,
                        Reporter& reporter) {
  const auto described = [](const std::vector<std::string_view>& names) {
    if (names.size() == 1) return "user \"" + std::string(names.front()) + "\" has ";
    return std::to_string(names.size()) + " users of auth_file, \"" + std::string(names.front()) +
           "\" first, have ";
  };
  if (rule.method == AuthMethod::ScramSha256) {
    const auto names = users_with(config, rule, SecretKind::Md5);
    if (names.empty()) return;
    const std::string message = described(names) + "an md5 hash, which scram-sha-256 cannot check";
    const std::string hint = "give a SCRAM verifier instead, or a rule with method md5 above this one";
    const bool named = std::find(rule.user.begin(), rule.user.end(), names.front()) != rule.user.end();
    named ? reporter.error(path, message, hint) : reporter.warning(path, message, hint);
  }
  if (rule.method == AuthMethod::Md5) {
    const auto names = users_with(config, rule, SecretKind::Scram);
    if (!names.empty())
      reporter.warning(path,
                       described(names) + "a SCRAM verifier and will be asked for SCRAM, as PostgreSQL does",
                       "use method scram-sha-256");
  }
}

void check_rule(const Config& config, const HbaRule& rule, const std::string& path, Reporter& reporter) {
  const Options& options = config.options;
  const bool tls_off = options.client_tls_sslmode == SslMode::Disable;
  if (rule.method == AuthMethod::Trust && !options.trust_anywhere && covers_beyond_loopback(rule))
    reporter.error(path, "trust for clients from beyond loopback lets anybody in",
                   "give network: [127.0.0.0/8, \"::1\", unix], or set trust_anywhere");
  if (rule.tls == TlsUse::Required && tls_off)
    reporter.error(path, "needs TLS, and client_tls_sslmode is disable");
  if (rule.method == AuthMethod::Cert) {
    if (rule.tls == TlsUse::Off) reporter.error(path, "cert needs TLS, and the rule says tls: off");
    if (tls_off) reporter.error(path, "cert needs TLS, and client_tls_sslmode is disable");
    if (options.client_tls_ca_file.empty())
      reporter.error(path, "cert needs client_tls_ca_file to verify client certificates with");
  }
  const bool needs_secrets = rule.method == AuthMethod::Md5 || rule.method == AuthMethod::ScramSha256;
  if (needs_secrets && options.auth_file.empty() && options.auth_user.empty())
    reporter.error(path, std::string(word_of(rule.method)) + " has no secrets to check: nobody can log in",
                   "set auth_file, or auth_user for auth_query");
  check_way_on(config, rule, path, reporter);
  check_secret_kinds(config, rule, path, reporter);
}

bool matches_everybody(const HbaRule& rule) {
  return rule.network.empty() && rule.user.empty() && rule.database.empty() && rule.tls == TlsUse::Any;
}

// A role of ours that logs in to servers.
void check_role(const Config& config, const std::string& key, const std::string& name,
                const std::string& password_key, const std::string& password, Reporter& reporter) {
  if (name.empty()) {
    if (!password.empty()) reporter.warning(password_key, "is not used: " + key + " is not set");
    return;
  }
  const UserEntry* const entry = find_user(config, name);
  const SecretKind kind = entry == nullptr ? SecretKind::None : secret_kind(entry->secret);
  if (password.empty() && kind != SecretKind::Plain && kind != SecretKind::Md5)
    reporter.warning(key, "no password of \"" + name + "\" is known: the servers must trust it",
                     "set " + password_key);
}

}  // namespace

void check_authentication(const Config& config, Reporter& reporter) {
  const Options& options = config.options;
  const bool listed = reporter.given("hba");
  if (listed && config.hba.empty()) reporter.error("hba", "no rule is listed: nobody can log in");
  if (listed && reporter.given("auth_type") && !config.hba.empty() && options.auth_type == AuthMethod::Trust)
    reporter.warning("auth_type", "is not used: the hba list decides");
  for (std::size_t i = 0; i < config.hba.size(); ++i) {
    const std::string path = listed ? indexed("hba", i) : "auth_type";
    check_rule(config, config.hba[i], path, reporter);
    if (matches_everybody(config.hba[i]) && i + 1 < config.hba.size())
      reporter.warning(indexed("hba", i + 1), "is never reached: " + path + " matches every client");
  }
  check_role(config, "auth_user", options.auth_user, "auth_password_file", config.passwords.auth_user,
             reporter);
  check_role(config, "server_user", options.server_user, "server_password_file", config.passwords.server_user,
             reporter);
  check_role(config, "health_check_user", options.health_check_user, "health_check_password_file",
             config.passwords.health_check_user, reporter);
  for (const auto* const list : {&options.admin_users, &options.stats_users})
    for (const std::string& name : *list)
      if (options.auth_user.empty() && !options.auth_file.empty() && find_user(config, name) == nullptr)
        reporter.warning(list == &options.admin_users ? "admin_users" : "stats_users",
                         "\"" + name + "\" is not in auth_file");
}

}  // namespace sluice::config
