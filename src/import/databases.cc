// [databases], and what stands behind the names in the other sections.

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "config/fields.h"
#include "config/kind_text.h"
#include "config/read_record.h"
#include "import/parts.h"

namespace sluice::import {
namespace {

using Hosts = std::vector<std::pair<std::string, std::string>>;  // host, port

struct Entry {
  const IniEntry* ini = nullptr;
  Pairs pairs;
  Hosts hosts;
  const std::string* find(std::string_view key) const {
    const auto found =
        std::find_if(pairs.rbegin(), pairs.rend(), [&](const auto& pair) { return pair.first == key; });
    return found == pairs.rend() ? nullptr : &found->second;
  }
};

std::vector<std::string> split_commas(std::string_view text) {
  std::vector<std::string> words;
  for (;;) {
    const std::size_t comma = text.find(',');
    words.emplace_back(text.substr(0, comma));
    if (comma == text.npos) return words;
    text.remove_prefix(comma + 1);
  }
}

// The hosts of an entry, each with its port. No host is the Unix socket in PgBouncer's own folder.
Hosts hosts_of(const Entry& entry, const Settings& settings) {
  const std::string* const host = entry.find("host");
  const std::string* const port = entry.find("port");
  const std::vector<std::string> names =
      host == nullptr || host->empty() ? std::vector<std::string>{settings.value("unix_socket_dir", "/tmp")}
                                       : split_commas(*host);
  const std::vector<std::string> ports =
      port == nullptr ? std::vector<std::string>{"5432"} : split_commas(*port);
  Hosts hosts;
  for (std::size_t i = 0; i < names.size(); ++i)
    hosts.emplace_back(names[i], ports.size() == names.size() ? ports[i] : ports.front());
  return hosts;
}

// A record in flow style from its keys and values, or why one of them is no value.
template <class R>
std::string record_line(const Pairs& values, std::string& wrong) {
  R record;
  for (const auto& [key, value] : values) {
    const config::Field<R>* const field = config::find_field<R>(key);
    config::Node node;
    node.kind = config::Node::Kind::Scalar;
    node.scalar = value;
    wrong = field->read(record, node, field->limits);
    if (!wrong.empty()) return wrong = key + " " + wrong, "";
  }
  return config::print_record(record);
}

constexpr MissingKey kMissingDatabaseKeys[] = {
    {"user",
     "no equivalent: clients log in to PostgreSQL as themselves; server_user is for those who show nothing "
     "that logs in there"},
    {"password", "is not taken over: put it into a file and name it in server_password_file"},
    {"auth_user", "no equivalent per database: auth_user holds for all"},
    {"auth_query", "no equivalent per database: auth_query holds for all"},
    {"auth_dbname", "no equivalent per database: auth_dbname holds for all"},
    {"pool_size", "no equivalent: see default_pool_size"},
    {"min_pool_size", "no equivalent: connections are opened when they are needed"},
    {"reserve_pool", "no equivalent: an urgent class borrows replicas instead"},
    {"reserve_pool_size", "no equivalent: an urgent class borrows replicas instead"},
    {"connect_query", "no equivalent: use ALTER DATABASE ... SET or ALTER ROLE ... SET"},
    {"server_lifetime", "no equivalent per database: server_lifetime holds for all"},
    {"query_wait_timeout", "no equivalent per database: query_wait_timeout holds for all"},
    {"client_encoding", "no equivalent: use ALTER DATABASE ... SET client_encoding"},
    {"datestyle", "no equivalent: use ALTER DATABASE ... SET datestyle"},
    {"timezone", "no equivalent: use ALTER DATABASE ... SET timezone"},
    {"load_balance_hosts", ""},  // several hosts are balanced in any case
    {"max_user_connections", "no equivalent per user: max_user_connections holds for all"},
    {"max_user_client_connections", "no equivalent per user: max_user_client_connections holds for all"},
    {"query_timeout", "no equivalent per user: query_timeout holds for all"},
    {"idle_transaction_timeout", "no equivalent per user: idle_transaction_timeout holds for all"},
    {"transaction_timeout", "no equivalent per user: transaction_timeout holds for all"},
    {"client_idle_timeout", "no equivalent per user: client_idle_timeout holds for all"},
};

void note_missing(const IniEntry& ini, const std::string& key, Output& out) {
  const MissingKey* const missing = find_missing(kMissingDatabaseKeys, key);
  const std::string name = ini.key + "." + key;
  if (missing == nullptr) return out.note(ini.place, name, "is no setting that PgBouncer 1.25 knows");
  if (!missing->text.empty()) out.note(ini.place, name, std::string(missing->text));
}

// `key` under our name, where it has one.
std::optional<std::pair<std::string, std::string>> our_field(const std::string& key,
                                                             const std::string& value) {
  if (key == "dbname") return std::pair(std::string("server_database"), value);
  if (key == "max_db_client_connections") return std::pair(std::string("max_sessions"), value);
  if (key == "pool_mode" && value == "statement") return std::pair(key, std::string("transaction"));
  if (key != "name" && key != "target" && config::find_field<config::Database>(key) != nullptr)
    return std::pair(key, value);
  return std::nullopt;
}

// Which host is the primary and which are replicas, as far as a file that knows neither tells: an entry with
// several hosts reads from any of them, so these are replicas; of the others the one that most entries name
// is the primary, the first of equals.
struct Roles {
  Hosts replicas;
  std::optional<std::pair<std::string, std::string>> primary;
};
Roles roles_of(const std::vector<Entry>& entries) {
  Roles roles;
  Hosts single;
  std::map<std::pair<std::string, std::string>, int> count;
  for (const Entry& entry : entries) {
    if (entry.hosts.size() == 1) {
      if (count[entry.hosts.front()]++ == 0) single.push_back(entry.hosts.front());
      continue;
    }
    for (const auto& host : entry.hosts)
      if (std::find(roles.replicas.begin(), roles.replicas.end(), host) == roles.replicas.end())
        roles.replicas.push_back(host);
  }
  for (const auto& host : single)
    if (!roles.primary || count[host] > count[*roles.primary]) roles.primary = host;
  return roles;
}

bool same_hosts(Hosts a, Hosts b) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  return a == b;
}

class Databases {
 public:
  Databases(const Ini& ini, const Settings& settings, Output& out) : out_(out) {
    for (const IniEntry& line : ini.entries) {
      if (line.section != "databases") continue;
      if (line.key == "pgbouncer" || line.key == "sluice") {
        out_.note(line.place, line.key, "is the name of the admin console: the database was left out");
        continue;
      }
      std::string bad;
      std::optional<Pairs> pairs = parse_pairs(line.value, bad);
      if (!pairs) {
        out_.note(line.place, line.key, "is not key=value at \"" + bad + "\": the database was left out");
        continue;
      }
      Entry entry{&line, *std::move(pairs), {}};
      entry.hosts = hosts_of(entry, settings);
      entries_.push_back(std::move(entry));
    }
    // The last of equal names wins, as with PgBouncer.
    std::set<std::string> seen;
    for (auto entry = entries_.rbegin(); entry != entries_.rend(); ++entry)
      if (!seen.insert(entry->ini->key).second) entry->ini = nullptr;
    std::erase_if(entries_, [](const Entry& entry) { return entry.ini == nullptr; });
    roles_ = roles_of(entries_);
  }

  void write() {
    if (entries_.empty()) {
      out_.note({}, "databases", "none is listed: name your servers");
      out_.line("primary: 127.0.0.1:5432");
      out_.line("databases: [{name: '*', target: primary}]");
      return;
    }
    servers();
    out_.line("databases:");
    for (const Entry& entry : entries_)
      database(entry);
    if (written_ == 0)
      out_.line("  - {name: '*', target: " + std::string(roles_.primary ? "primary" : "replicas") + "}");
  }

 private:
  void servers() {
    const auto server = [&](const std::pair<std::string, std::string>& host) {
      std::string wrong;
      const std::string line =
          record_line<config::Server>({{"host", host.first}, {"port", host.second}}, wrong);
      if (!wrong.empty()) out_.note({}, host.first, "is no server: " + wrong);
      return line;
    };
    if (roles_.primary) {
      if (const std::string line = server(*roles_.primary); !line.empty()) out_.line("primary: " + line);
    }
    if (roles_.replicas.empty()) return;
    out_.line("replicas:");
    for (const auto& replica : roles_.replicas)
      if (const std::string line = server(replica); !line.empty()) out_.line("  - " + line);
  }

  void database(const Entry& entry) {
    const IniEntry& ini = *entry.ini;
    const bool reads = entry.hosts.size() > 1;
    if (!reads && entry.hosts.front() != *roles_.primary)
      return out_.note(
          ini.place, ini.key,
          "is on another server, " + entry.hosts.front().first + ":" + entry.hosts.front().second +
              ": a router serves one primary and its replicas, so run one for each cluster (if this "
              "server is a replica, list it under replicas and give the database target: replicas)");
    if (reads && !same_hosts(entry.hosts, roles_.replicas))
      out_.note(ini.place, ini.key,
                "has not the same hosts as others with several: its sessions go to all replicas");
    Pairs values{{"name", ini.key}, {"target", reads ? "replicas" : "primary"}};
    for (const auto& [key, value] : entry.pairs) {
      if (key == "host" || key == "port") continue;
      if (auto field = our_field(key, value)) {
        if (field->first == "server_database" && value == ini.key) continue;
        if (value == "statement")
          out_.note(ini.place, ini.key + ".pool_mode", "statement has no equivalent: transaction is written");
        values.push_back(*std::move(field));
      } else {
        note_missing(ini, key, out_);
      }
    }
    std::string wrong;
    const std::string line = record_line<config::Database>(values, wrong);
    if (!wrong.empty()) return out_.note(ini.place, ini.key, wrong + ": the database was left out");
    out_.line("  - " + line);
    ++written_;
  }

  Output& out_;
  std::vector<Entry> entries_;
  Roles roles_;
  std::size_t written_ = 0;
};

void write_users(const Ini& ini, Output& out) {
  std::string lines;
  for (const IniEntry& line : ini.entries) {
    if (line.section != "users") continue;
    std::string bad;
    const std::optional<Pairs> pairs = parse_pairs(line.value, bad);
    if (!pairs) {
      out.note(line.place, line.key, "is not key=value at \"" + bad + "\"");
      continue;
    }
    Pairs values{{"name", line.key}};
    for (const auto& [key, value] : *pairs) {
      if (key == "name" || config::find_field<config::UserSettings>(key) == nullptr) {
        note_missing(line, key, out);
        continue;
      }
      const bool statement = key == "pool_mode" && value == "statement";
      if (statement)
        out.note(line.place, line.key + ".pool_mode", "statement has no equivalent: transaction is written");
      values.emplace_back(key, statement ? "transaction" : value);
    }
    if (values.size() == 1) continue;
    std::string wrong;
    const std::string record = record_line<config::UserSettings>(values, wrong);
    if (!wrong.empty()) {
      out.note(line.place, line.key, wrong);
    } else {
      lines += "  - " + record + "\n";
    }
  }
  if (!lines.empty()) out.yaml += "users:\n" + lines;
}

}  // namespace

void translate_databases(const Ini& ini, const Settings& settings, Output& out) {
  Databases(ini, settings, out).write();
}

void translate_rest(const Ini& ini, Output& out) {
  write_users(ini, out);
  std::set<std::string> told;
  for (const IniEntry& line : ini.entries) {
    if (line.section == "pgbouncer" || line.section == "databases" || line.section == "users") continue;
    if (!told.insert(line.section).second) continue;
    if (line.section == "peers") {
      out.note(line.place, "[peers]", "no equivalent: one process with threads needs no peers");
    } else {
      out.note(line.place, line.key,
               line.section.empty() ? "stands before the first section"
                                    : "section [" + line.section + "] is unknown");
    }
  }
}

}  // namespace sluice::import
