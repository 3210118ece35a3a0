#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "pooling/sql_lexer.h"

namespace sluice::pooling {

// One setting of a server session. `key` is the name in lower case, by which settings are compared.
struct Setting {
  std::string key;
  std::string name;  // as the server or the client wrote it
  std::string value;
  bool reported = false;  // the server tells it by ParameterStatus

  friend bool operator==(const Setting&, const Setting&) = default;
};

// Settings ordered by key, each once. Immutable and shared: equal sets of one SettingsStore are one object,
// so that two thousand clients with the same settings compare as two pointers.
using SettingSet = std::vector<Setting>;
using SettingSetPtr = std::shared_ptr<const SettingSet>;

// The value, or nullptr.
const std::string* value_of(const SettingSet& set, std::string_view key) noexcept;

// Interns sets. One per thread; outlives nothing but its own calls.
class SettingsStore {
 public:
  SettingSetPtr intern(SettingSet set);
  std::size_t size() const noexcept { return known_.size(); }

 private:
  struct Less {
    bool operator()(const SettingSetPtr& a, const SettingSetPtr& b) const noexcept;
  };
  std::set<SettingSetPtr, Less> known_;
  std::size_t sweep_at_ = 64;
};

// Which settings follow a client from server to server: all that the server reports, but for those that
// describe the server itself (server_version, in_hot_standby, ...), and the configured ones
// (track_extra_parameters).
class TrackedSettings {
 public:
  // Names in any case; "*" stands for every setting that a client names in a SET the router can see.
  explicit TrackedSettings(std::span<const std::string> extra);
  // `key` in lower case.
  bool extra(std::string_view key) const noexcept;
  // Reported settings that no client may choose.
  static bool describes_server(std::string_view key) noexcept;

 private:
  std::vector<std::string> extra_;  // sorted
  bool all_ = false;
};

// What a server connection's settings are now. One per server connection.
class ServerSettings {
 public:
  explicit ServerSettings(SettingsStore& store) : store_(store), current_(store.intern({})) {}

  // A ParameterStatus, also those of the connection's login. Values of unreported settings come by
  // on_values().
  void on_report(std::string_view name, std::string_view value);
  // Of each, in order.
  void on_reports(std::span<const std::pair<std::string, std::string>> reports);
  // The connection ran DISCARD ALL or RESET ALL outside a client's session (a reset): what was not reported
  // is at its default again.
  void forget_unreported();
  // Equal pointers, equal settings (of servers of one store).
  const SettingSetPtr& current() const noexcept { return current_; }

 private:
  friend class ClientSettings;
  void set(Setting setting);
  void erase(std::string_view key);

  SettingsStore& store_;
  SettingSetPtr current_;
};

// What a client wants its settings to be, on whatever server it gets. One per client session.
// Use: 1. At login, after a server's settings are known: ClientSettings(startup parameters), then
// greet(server).
//      2. Each time it gets a server: in_step(server)? go on. Else run sync_sql() (empty: nothing to run) by
//      a
//         SettingsMachine before anything of the client's, give its row to on_synced(), then append_told() to
//         what the client is sent before its first answer.
//      3. While it has the server, SessionTranslator reports what it sees (on_report, on_set, on_reset).
//      4. Before the server leaves it: read_sql(); when not empty, run it and give its row to on_read(). So a
//      SET
//         that was rolled back, SET LOCAL and whatever a function did come out right without a model of
//         transactions: the server is asked.
// Values: those of the server's own spelling once it has seen them, handed back through set_config(), which
// takes
//         the text as it is: search_path does not gain quotes, an empty application_name stays empty, and no
//         value can end its literal.
// Encoding: values are kept as the client would see them. Where client_encoding is to change, it does so
// before
//         any value that is not ASCII is sent; when the client has changed it, such values are read anew.
// RESET:  a setting of the startup packet returns to that value at the next server; other settings to the
// server's
//         default.
class ClientSettings {
 public:
  using Parameters = std::span<const std::pair<std::string, std::string>>;
  using Values = std::span<const std::optional<std::string>>;  // none: NULL

  // `startup`: what the client asked for at its login, options included, without user, database, replication
  // and _pq_. names. `tracked` and `store` outlive the object.
  ClientSettings(SettingsStore& store, const TrackedSettings& tracked, Parameters startup);

  // The client has been told `server`'s reported settings, and its own startup values in place of them: call
  // after the first sync. From here on the client wants what it was told.
  void greet(const ServerSettings& server);

  // The server has just what the client wants and the client knows what the server reports. O(1).
  bool in_step(const ServerSettings& server) const noexcept { return in_step_with_ == server.current_; }
  // One SELECT of set_config() calls that makes the server's settings the client's, or "" when they are. The
  // row it gives has one value per call, for on_synced(); what the server reported meanwhile goes to
  // ServerSettings::on_report() before. on_synced() true: that was the encoding alone, in which the rest is
  // written; ask again.
  std::string sync_sql(const ServerSettings& server);
  bool on_synced(ServerSettings& server, Values values);
  // ParameterStatus messages for what the client was told differently or not at all (in_hot_standby, for
  // one). From here on they are in step.
  void append_told(Bytes& to_client, const ServerSettings& server);

  // A ParameterStatus that goes on to the client.
  void on_report(ServerSettings& server, std::string_view name, std::string_view value);
  // SET or RESET of `key` seen. False: it does not follow the client, so the session is to be pinned.
  bool on_set(std::string_view key);
  bool on_reset(std::string_view key);
  bool follows(std::string_view key) const noexcept;
  // RESET ALL or DISCARD ALL seen.
  void on_reset_all(const ServerSettings& server);

  // "" when no unreported setting was touched; else a SELECT of current_setting() calls, cut where they are
  // too long to follow. NULL: there is no such setting, and the SET of it failed; nothing is wanted of it.
  // on_read() false: they do not all follow, so the session is to be pinned.
  std::string read_sql() const;
  bool on_read(ServerSettings& server, Values values);
  // The server is given back, after on_read() where read_sql() asks for it: what it has is what the client
  // wants.
  void on_hand_back(const ServerSettings& server);

  // What of the settings decides how a text is parsed: for StatementStore::scope().
  std::string parse_scope() const;
  Backslash backslash() const noexcept { return backslash_; }
  const SettingSetPtr& wanted() const noexcept { return wanted_; }

  // Unreported settings of one client, their names and values together, and a name; SET of more pins. What is
  // sent to a server of them is to fit into its socket at once.
  static constexpr std::size_t kFollowedMax = 256;
  static constexpr std::size_t kFollowedBytesMax = 16 * 1024;
  static constexpr std::size_t kNameBytesMax = 256;

 private:
  struct Change {
    std::string key;
    std::string name;
    std::optional<std::string> value;  // none: the server's default
  };
  enum class Recoded { No, Yes };  // the server's values may be in another encoding than the client's
  std::vector<Change> changes(const ServerSettings& server, Recoded recoded) const;
  void want(Setting setting);
  void want_nothing_of(std::string_view key);
  bool portable() const;
  bool touch(std::string_view key);
  void touch_what_it_recodes(const Setting& encoding);
  bool reported(std::string_view key) const noexcept { return value_of(*told_, key) != nullptr; }

  SettingsStore& store_;
  const TrackedSettings& tracked_;
  Backslash backslash_ = Backslash::Literal;  // standard_conforming_strings
  SettingSetPtr startup_;
  SettingSetPtr wanted_;
  SettingSetPtr told_;                // reported settings as the client knows them
  SettingSetPtr in_step_with_;        // a server's set that was the client's, while it is
  SettingSetPtr before_;              // wanted_ before a RESET, until the server goes
  std::vector<std::string> touched_;  // keys of unreported settings that may have changed
  std::vector<std::string> reset_;    // keys of startup settings that were RESET
  std::vector<Change> running_;       // of the SELECT that on_synced() is to hear of
  bool encoding_first_ = false;       // what else it is to hear of comes with the next one
};

}  // namespace sluice::pooling
