// [pgbouncer]: what becomes of each setting.

#include <algorithm>
#include <array>

#include "config/fields.h"
#include "config/kind_text.h"
#include "config/read_record.h"
#include "import/parts.h"

namespace sluice::import {
namespace {

using Handler = void (*)(const IniEntry& entry, const Settings& settings, Output& out);

constexpr MissingKey kMissingSettings[] = {
    {"logfile", "no equivalent under this name: log_file, or standard error and from there to journald"},
    {"pidfile", "no equivalent: systemd or a container knows the process"},
    {"syslog", "no equivalent: the log goes to standard error, and from there to journald"},
    {"syslog_ident", "no equivalent: the log goes to standard error"},
    {"syslog_facility", "no equivalent: the log goes to standard error"},
    {"log_stats", "no equivalent: statistics are in SHOW STATS and on /metrics"},
    {"log_pooler_errors", "no equivalent: what clients are refused is always logged"},
    {"user", "no equivalent: start it as that user (User= of the systemd unit)"},
    {"job_name", "no equivalent"},
    {"conffile", "no equivalent: the file is named by -c"},
    {"service_name", "no equivalent"},
    {"unix_socket_mode", "no equivalent under this name: the socket gets the process's umask"},
    {"unix_socket_group", "no equivalent: give the folder of the socket to the group"},
    {"default_pool_size",
     "no equivalent: set max_active of a server, max_db_connections or max_user_connections, or nothing is "
     "limited; each counts all pairs of user and database together"},
    {"min_pool_size",
     "no equivalent: connections are opened when they are needed and kept when they are not"},
    {"reserve_pool_size", "no equivalent: an urgent class borrows replicas instead"},
    {"reserve_pool_timeout", "no equivalent: an urgent class borrows replicas instead"},
    {"server_round_robin",
     "no equivalent: the most recently used connection is taken; policy says which replica"},
    {"server_check_query",
     "no equivalent: a kept connection is looked at without a query, and health checks ask "
     "SELECT 1"},
    {"server_check_delay", "no equivalent: every connection is looked at before it is used again"},
    {"server_fast_close", "no equivalent: RECONNECT closes connections as soon as they are free"},
    {"server_login_retry", "no equivalent: health_check_interval says how often a lost server is tried"},
    {"server_reset_query_always",
     "no equivalent under this name: in transaction mode isolation: strict does it"},
    {"scram_iterations", "no equivalent: verifiers are made by PostgreSQL"},
    {"login_notify_message", "no equivalent"},
    {"suspend_timeout", "no equivalent: there is no SUSPEND"},
    {"autodb_idle_timeout",
     "no equivalent: databases that are not listed cost nothing when they are not used"},
    {"pool_idle_timeout", "no equivalent: server_idle_timeout closes connections that are not used"},
    {"dns_zone_check_period", "no equivalent: the operating system's resolver decides"},
    {"resolv_conf", "no equivalent: the operating system's resolver decides"},
    {"client_tls_ecdhcurve", "no equivalent: OpenSSL's choice"},
    {"client_tls_dheparams", "no equivalent: OpenSSL's choice"},
    {"client_tls13_ciphers", "no equivalent: OpenSSL's choice for TLS 1.3"},
    {"server_tls13_ciphers", "no equivalent: OpenSSL's choice for TLS 1.3"},
    {"tcp_socket_buffer", "no equivalent: the operating system sizes the buffers"},
    {"max_packet_size", "no equivalent: messages of any size pass through in pieces"},
    {"sbuf_loopcnt", "no equivalent"},
    {"disable_pqexec", "no equivalent"},
    {"peer_id", "no equivalent: one process with threads needs no peers"},
    {"auth_ident_file", "no equivalent: user name maps are not read"},
    {"auth_ldap_options", "no equivalent: LDAP is not spoken; auth_query may ask PostgreSQL"},
};

void put_auth_type(const IniEntry& entry, const Settings& settings, Output& out) {
  const std::string& value = entry.value;
  if (value == "hba") {
    if (!settings.value("auth_hba_file", "").empty()) return;  // translate_hba()
    put_option(out, entry, "auth_type", "scram-sha-256");
    return out.note(entry.place, "auth_type", "hba: there is no auth_hba_file");
  }
  if (value == "plain" || value == "any" || value == "pam" || value == "ldap") {
    put_option(out, entry, "auth_type", "scram-sha-256");
    return out.note(entry.place, "auth_type", value + " has no equivalent: scram-sha-256 is written instead");
  }
  // Nothing of such a client's logs in to PostgreSQL, and who may do so instead is not for us to choose.
  if (value == "trust" || value == "cert") {
    put_option(out, entry, "auth_type", "scram-sha-256");
    return out.note(
        entry.place, "auth_type",
        value +
            " needs a role to log in to PostgreSQL as: scram-sha-256 is written until you set server_user, "
            "server_password_file and then auth_type: " +
            value);
  }
  put_option(out, entry, "auth_type", value);
}

void put_listen_addr(const IniEntry& entry, const Settings& settings, Output& out) {
  std::string value = entry.value;
  const std::string socket_dir = settings.value("unix_socket_dir", "");
  if (!socket_dir.empty())
    value += (value.empty() ? "" : ", ") + socket_dir + "/.s.PGSQL." + settings.value("listen_port", "6432");
  if (value.empty())
    return out.note(entry.place, "listen_addr",
                    "is empty, and there is no unix_socket_dir: 127.0.0.1 is the default");
  put_option(out, entry, "listen_addr", value);
}

void put_socket_dir(const IniEntry& entry, const Settings& settings, Output& out) {
  if (settings.find("listen_addr") == nullptr) put_listen_addr(entry, settings, out);
}

void put_ciphers(const IniEntry& entry, const Settings&, Output& out) {
  static constexpr std::array<std::string_view, 6> kNames = {"default", "secure", "fast",
                                                             "normal",  "all",    ""};
  if (std::find(kNames.begin(), kNames.end(), entry.value) != kNames.end()) return;  // OpenSSL's choice
  put_option(out, entry, entry.key, entry.value);
}

void put_protocols(const IniEntry& entry, const Settings&, Output& out) {
  if (entry.value == "secure" || entry.value == "default") return;
  if (entry.value == "all" || entry.value == "legacy" || entry.value.find("tlsv1.0") != std::string::npos ||
      entry.value.find("tlsv1.1") != std::string::npos)
    return out.note(entry.place, entry.key, "TLS before 1.2 is not spoken");
  std::string words = entry.value;
  words.erase(std::remove(words.begin(), words.end(), ' '), words.end());
  if (words == "tlsv1.2,tlsv1.3" || words == "tlsv1.3,tlsv1.2") return;
  put_option(out, entry, entry.key, words);
}

void put_pool_mode(const IniEntry& entry, const Settings&, Output& out) {
  if (entry.value == "statement") {
    put_option(out, entry, "pool_mode", "transaction");
    return out.note(
        entry.place, "pool_mode",
        "statement has no equivalent: transaction is written, which lets clients open transactions");
  }
  put_option(out, entry, "pool_mode", entry.value);
}

// Empty is "no reset" there; here a connection that is not reset is not used again.
void put_reset_query(const IniEntry& entry, const Settings&, Output& out) {
  if (!entry.value.empty()) return put_option(out, entry, entry.key, entry.value);
  out.note(
      entry.place, entry.key,
      "is empty: a connection is always reset before another client gets it; DISCARD ALL is the default");
}

void put_hba_file(const IniEntry&, const Settings&, Output&) {}  // translate_hba()

void put_verbose(const IniEntry& entry, const Settings&, Output& out) {
  if (entry.value != "0") put_option(out, entry, "log_level", "debug");
}

struct Special {
  std::string_view key;
  Handler put;
};
constexpr Special kSpecial[] = {
    {"auth_type", put_auth_type},
    {"listen_addr", put_listen_addr},
    {"unix_socket_dir", put_socket_dir},
    {"client_tls_ciphers", put_ciphers},
    {"server_tls_ciphers", put_ciphers},
    {"client_tls_protocols", put_protocols},
    {"server_tls_protocols", put_protocols},
    {"pool_mode", put_pool_mode},
    {"server_reset_query", put_reset_query},
    {"auth_hba_file", put_hba_file},
    {"verbose", put_verbose},
};

}  // namespace

Settings::Settings(const Ini& ini) {
  for (const IniEntry& entry : ini.entries)
    if (entry.section == "pgbouncer") last_[entry.key] = &entry;
  for (const IniEntry& entry : ini.entries)
    if (const auto found = last_.find(entry.key); found != last_.end() && found->second == &entry)
      order_.push_back(&entry);
}

const IniEntry* Settings::find(std::string_view key) const {
  const auto found = last_.find(key);
  return found == last_.end() ? nullptr : found->second;
}

std::string Settings::value(std::string_view key, std::string_view otherwise) const {
  const IniEntry* const entry = find(key);
  return entry == nullptr ? std::string(otherwise) : entry->value;
}

const MissingKey* find_missing(std::span<const MissingKey> missing, std::string_view key) noexcept {
  const auto found =
      std::find_if(missing.begin(), missing.end(), [key](const MissingKey& m) { return m.key == key; });
  return found == missing.end() ? nullptr : &*found;
}

bool is_option(std::string_view key) {
  return config::find_field<config::Options>(key) != nullptr;
}

void put_option(Output& out, const IniEntry& entry, std::string_view key, std::string_view value) {
  const config::Field<config::Options>* const field = config::find_field<config::Options>(key);
  if (field == nullptr) return out.note(entry.place, std::string(key), "no equivalent");
  config::Options options;
  config::Node node;
  node.kind = config::Node::Kind::Scalar;
  node.scalar = value;
  if (const std::string wrong = field->read(options, node, field->limits); !wrong.empty())
    return out.note(entry.place, std::string(key), wrong + ": left at its default");
  out.line(std::string(key) + ": " + field->print(options));
}

void translate_settings(const Settings& settings, const Sources& sources, Output& out) {
  for (const IniEntry* const entry : settings.in_order()) {
    if (entry->key == "auth_file" && sources.userlist_path) continue;
    const auto special = std::find_if(std::begin(kSpecial), std::end(kSpecial),
                                      [&](const Special& s) { return s.key == entry->key; });
    if (special != std::end(kSpecial)) {
      special->put(*entry, settings, out);
    } else if (is_option(entry->key)) {
      put_option(out, *entry, entry->key, entry->value);
    } else {
      const MissingKey* const missing = find_missing(kMissingSettings, entry->key);
      out.note(entry->place, entry->key,
               missing == nullptr ? "is no setting that PgBouncer 1.25 or Sluice knows"
                                  : std::string(missing->text));
    }
  }
  // PgBouncer's default, with which verifiers of both kinds let in.
  if (settings.find("auth_type") == nullptr) out.line("auth_type: md5");
  if (sources.userlist_path) out.line("auth_file: " + config::quoted_if_needed(*sources.userlist_path));
}

}  // namespace sluice::import
