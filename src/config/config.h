#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/enums.h"
#include "config/kinds.h"
#include "config/network.h"
#include "config/problem.h"

namespace sluice::config {

// One member per row of options.def, named as the option.
struct Options {
#define GROUP(title)
#define X(kind_, name, default_, min, max, apply, secrecy, help) \
  kind::kind_::Value name = kind::kind_::initial(default_);
#include "config/options.def"
#undef X
#undef GROUP
};

// One struct per file of tables/, one member per row.
#define F(kind_, member, key, default_, min, max, presence, help) \
  kind::kind_::Value member = kind::kind_::initial(default_);
struct Listener {
#include "config/tables/listener.def"
};
struct Server {
#include "config/tables/server.def"
  std::string hostaddr{};  // numeric address behind `host` that was found for it; "": host is looked up
};
struct PriorityClass {
#include "config/tables/priority_class.def"
};
struct ClassRule {
#include "config/tables/class_rule.def"
};
struct Budget {
#include "config/tables/budget.def"
};
struct OriginHost {
#include "config/tables/origin_host.def"
};
struct Database {
#include "config/tables/database.def"
};
struct UserSettings {
#include "config/tables/user.def"
};
struct HbaRule {
#include "config/tables/hba_rule.def"
};
#undef F

// A line of auth_file.
struct UserEntry {
  std::string name;
  std::string secret;  // a SCRAM verifier, "md5...", or a plain password; "" = no password is right

  friend bool operator==(const UserEntry&, const UserEntry&) = default;
};

// What the password files held, without the line's end. Never printed.
struct Passwords {
  std::string server_user;
  std::string auth_user;
  std::string health_check_user;
  std::string patroni_user;
  std::string admin_token;  // of the HTTP admin port; empty: there is none

  friend bool operator==(const Passwords&, const Passwords&) = default;
};

// A whole configuration that passed every check: no list is left to be completed by its user, and names refer
// to things that exist. Immutable once loaded, shared by all threads; a reload makes a new one.
struct Config {
  std::string path;  // file it came from
  Options options;
  std::vector<Listener> listeners;  // at least one; those of listen_addr and listen_port first
  std::vector<Server> replicas;     // order decides ties
  std::optional<Server> primary;    // the one that is named
  std::vector<Server>
      primary_candidates;              // where several are: the one that is not in recovery is the primary
  std::vector<PriorityClass> classes;  // highest first, at least one
  std::vector<ClassRule> rules;        // first match wins, else options.default_class (never empty here)
  std::vector<Budget> budgets;         // first match wins, else none
  std::vector<OriginHost> hosts;       //
  std::vector<Database> databases;     // at least one; where none is listed "*" with target replicas
  std::vector<UserSettings> user_settings;  // the key `users`; first match wins
  std::vector<HbaRule> hba;      // first match wins, no match is reject; from auth_type where none is listed
  std::vector<UserEntry> users;  // sorted by name, names unique
  Passwords passwords;
  Problems warnings;  // of when it was loaded or changed, for those who look later
};

// Whether servers come and go by themselves: Patroni or DNS tells which replicas there are.
bool finds_replicas(const Config&);
// Whether there is a way to a primary: one is named, or it is found among several.
bool has_primary(const Config&);
// Whether sizes of sessions and transactions are to be learned.
bool learns_sizes(const Config&);

// Never throws and never crashes, whatever the file holds: files over kFileBytesMax, nested deeper than
// kDepthMax or with aliases are problems like any other. Reads the file, auth_file and the password files.
struct LoadOutcome {
  std::shared_ptr<const Config> config;  // null if any problem is an error
  Problems problems;                     // in the order of their lines, kProblemCountMax per severity
};
LoadOutcome load(const std::string& path);
// The same from text; relative paths are looked up from the folder of `path`, which need not exist.
LoadOutcome load_text(std::string_view yaml, const std::string& path);

// What the policy core needs of it. Its problem_of is nullopt.
policy::PoolConfig pool_config(const Config&);

// The entry of a user in auth_file; nullptr if there is none. O(log users).
const UserEntry* find_user(const Config&, std::string_view name);

}  // namespace sluice::config
