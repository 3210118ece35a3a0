#include "config/complete.h"

#include <algorithm>

#include "config/fields.h"
#include "config/file_text.h"
#include "config/userlist.h"

namespace sluice::config {
namespace {

constexpr std::size_t kPasswordBytesMax = 1024;

std::string host_and_port(const std::string& host, std::uint32_t port) {
  const bool bracketed = host.find(':') != host.npos;
  return (bracketed ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

// Replicas each of the two usual classes starts with. The paper's split is 2 / 2 / 1 Mixed of five; fewer
// replicas leave one Mixed as long as both classes have one, and a single replica is Mixed.
std::uint32_t usual_target(std::size_t replica_count) {
  if (replica_count < 2) return 0;
  return static_cast<std::uint32_t>(std::clamp<std::size_t>((replica_count - 1) / 2, 1, 2));
}

std::vector<PriorityClass> usual_classes(std::size_t replica_count) {
  const std::uint32_t target = usual_target(replica_count);
  PriorityClass premium;
  premium.name = "premium";
  premium.target = target;
  premium.weight = *Weight::parse("2");
  PriorityClass freemium;
  freemium.name = "freemium";
  freemium.return_ratio = *Ratio::parse("0.80");
  freemium.target = target;
  freemium.floor = std::min<std::uint32_t>(1, target);
  return {premium, freemium};
}

HbaRule rule_of(const Options& options) {
  HbaRule rule;
  rule.method = options.auth_type;
  if (options.auth_type == AuthMethod::Trust && !options.trust_anywhere)
    rule.network = {*parse_network("127.0.0.0/8"), *parse_network("::1"), *parse_network("unix")};
  if (options.auth_type == AuthMethod::Cert) rule.tls = TlsUse::Required;
  return rule;
}

void read_password(const std::string& key, const std::string& path, std::string& password,
                   Reporter& reporter) {
  if (path.empty()) return;
  FileText file = read_file(path, kPasswordBytesMax);
  if (!file.text) return reporter.error(key, path + " " + file.problem);
  if (file.others_can_read)
    reporter.warning(key, path + " can be read by every user of this machine", "chmod o-r " + path);
  std::string& text = *file.text;
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r'))
    text.pop_back();
  if (text.empty()) return reporter.error(key, path + " is empty");
  if (text.find('\n') != text.npos || text.find('\0') != text.npos)
    return reporter.error(key, path + " holds more than one line");
  password = std::move(text);
}

void read_users(Config& config, Reporter& reporter) {
  const std::string& path = config.options.auth_file;
  if (path.empty()) return;
  const FileText file = read_file(path, kUserlistBytesMax);
  if (!file.text) return reporter.error("auth_file", path + " " + file.problem);
  if (file.others_can_read)
    reporter.warning("auth_file", path + " can be read by every user of this machine", "chmod o-r " + path);
  config.users = parse_userlist(*file.text, path, reporter.problems());
  const auto plain = std::count_if(config.users.begin(), config.users.end(), [](const UserEntry& user) {
    return secret_kind(user.secret) == SecretKind::Plain;
  });
  if (plain > 0)
    reporter.warning("auth_file",
                     path + " holds " + std::to_string(plain) + " plain password" + (plain == 1 ? "" : "s"),
                     "SCRAM verifiers, as in pg_authid.rolpassword, do as well and give nothing away");
}

// It travels in a header field, and is all that stands between a stranger and the pools.
void check_token(const std::string& token, Reporter& reporter) {
  constexpr std::size_t kTokenBytesMin = 16;
  if (token.empty()) return;
  if (token.size() < kTokenBytesMin)
    reporter.error("admin_token_file", "the token has less than 16 characters",
                   "openssl rand -hex 32 makes a good one");
  const bool visible = std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c < '\x7f'; });
  if (!visible) reporter.error("admin_token_file", "the token has other characters than visible ASCII");
}

void look_at_file(const std::string& key, const std::string& path, bool secret, Reporter& reporter) {
  constexpr std::size_t kPemBytesMax = std::size_t{16} << 20;
  if (path.empty()) return;
  const FileText file = read_file(path, kPemBytesMax);
  if (!file.text) return reporter.error(key, path + " " + file.problem);
  if (secret && file.others_can_read)
    reporter.warning(key, path + " can be read by every user of this machine", "chmod o-r " + path);
}

}  // namespace

static void complete_paths(const std::string& config_path, Options& options) {
  for (std::string* const path :
       {&options.auth_file, &options.auth_password_file, &options.server_password_file,
        &options.health_check_password_file, &options.patroni_password_file, &options.admin_token_file,
        &options.client_tls_cert_file, &options.client_tls_key_file, &options.client_tls_ca_file,
        &options.server_tls_cert_file, &options.server_tls_key_file, &options.patroni_tls_cert_file,
        &options.patroni_tls_key_file, &options.log_file})
    *path = path_from(config_path, *path);
  for (std::string* const path : {&options.server_tls_ca_file, &options.patroni_tls_ca_file})
    if (*path != "system") *path = path_from(config_path, *path);
}

void complete(Config& config, const Reporter& reporter) {
  Options& options = config.options;
  complete_paths(config.path, options);

  if (!reporter.given("listeners") || reporter.given("listen_addr") || reporter.given("listen_port")) {
    for (const std::string& address : options.listen_addr) {
      Listener& listener = config.listeners.emplace_back();
      listener.address = address;
      listener.port = options.listen_port;
      listener.proxy_from = options.proxy_protocol_from;
    }
  }
  for (Listener& listener : config.listeners)
    if (listener.name.empty())
      listener.name = listener.address.starts_with('/') || listener.address.starts_with('@')
                          ? listener.address
                          : host_and_port(listener.address, listener.port);
  for (Server& replica : config.replicas)
    if (replica.name.empty()) replica.name = host_and_port(replica.host, replica.port);
  if (config.primary && config.primary->name.empty())
    config.primary->name = host_and_port(config.primary->host, config.primary->port);
  for (Server& candidate : config.primary_candidates) {
    // One that is a replica too is known by one name.
    const auto replica =
        std::find_if(config.replicas.begin(), config.replicas.end(), [&](const Server& each) {
          return each.host == candidate.host && each.port == candidate.port && each.discover == Discover::Off;
        });
    if (!candidate.name.empty()) continue;
    candidate.name =
        replica == config.replicas.end() ? host_and_port(candidate.host, candidate.port) : replica->name;
  }

  if (!reporter.given("classes")) config.classes = usual_classes(config.replicas.size());
  if (options.default_class.empty() && !config.classes.empty())
    options.default_class = config.classes.back().name;
  if (!reporter.given("databases")) config.databases.emplace_back().name = "*";
  if (!reporter.given("hba")) config.hba = {rule_of(options)};
}

void complete_options(const Config& before, Config& changed) {
  complete_paths(changed.path, changed.options);
  if (changed.options.default_class.empty()) changed.options.default_class = changed.classes.back().name;
  // What was drawn from auth_type follows it.
  if (before.hba.size() == 1 && print_record(before.hba[0]) == print_record(rule_of(before.options)))
    changed.hba = {rule_of(changed.options)};
}

void read_secret_files(Config& config, Reporter& reporter) {
  const Options& options = config.options;
  read_users(config, reporter);
  read_password("auth_password_file", options.auth_password_file, config.passwords.auth_user, reporter);
  const UserEntry* entry = find_user(config, options.auth_user);
  if (options.auth_password_file.empty() && entry != nullptr &&
      secret_kind(entry->secret) == SecretKind::Plain)
    config.passwords.auth_user = entry->secret;
  read_password("server_password_file", options.server_password_file, config.passwords.server_user, reporter);
  read_password("health_check_password_file", options.health_check_password_file,
                config.passwords.health_check_user, reporter);
  read_password("patroni_password_file", options.patroni_password_file, config.passwords.patroni_user,
                reporter);
  read_password("admin_token_file", options.admin_token_file, config.passwords.admin_token, reporter);
  check_token(config.passwords.admin_token, reporter);
  look_at_file("client_tls_cert_file", options.client_tls_cert_file, false, reporter);
  look_at_file("client_tls_key_file", options.client_tls_key_file, true, reporter);
  look_at_file("client_tls_ca_file", options.client_tls_ca_file, false, reporter);
  if (options.server_tls_ca_file != "system")
    look_at_file("server_tls_ca_file", options.server_tls_ca_file, false, reporter);
  look_at_file("server_tls_cert_file", options.server_tls_cert_file, false, reporter);
  look_at_file("server_tls_key_file", options.server_tls_key_file, true, reporter);
  if (options.patroni_tls_ca_file != "system")
    look_at_file("patroni_tls_ca_file", options.patroni_tls_ca_file, false, reporter);
  look_at_file("patroni_tls_cert_file", options.patroni_tls_cert_file, false, reporter);
  look_at_file("patroni_tls_key_file", options.patroni_tls_key_file, true, reporter);
}

}  // namespace sluice::config
