#include "pooling/settings.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "protocol/backend_messages.h"

namespace sluice::pooling {
namespace {

constexpr std::array<std::string_view, 6> kDescribesServer = {"in_hot_standby", "integer_datetimes",
                                                              "is_superuser",   "server_encoding",
                                                              "server_version", "server_version_num"};
// End with the transaction by themselves.
constexpr std::array<std::string_view, 3> kOfTransaction = {"transaction_deferrable", "transaction_isolation",
                                                            "transaction_read_only"};
// Read by PostgreSQL while it parses: how literals become constants, and what names mean.
constexpr std::array<std::string_view, 8> kParseSettings = {"client_encoding",
                                                            "datestyle",
                                                            "intervalstyle",
                                                            "role",
                                                            "search_path",
                                                            "session_authorization",
                                                            "standard_conforming_strings",
                                                            "timezone"};

constexpr std::string_view kEncoding = "client_encoding";
constexpr std::string_view kRole = "role";
constexpr std::string_view kAuthorization = "session_authorization";

auto position(const SettingSet& set, std::string_view key) noexcept {
  return std::lower_bound(set.begin(), set.end(), key,
                          [](const Setting& setting, std::string_view k) { return setting.key < k; });
}

const Setting* find(const SettingSet& set, std::string_view key) noexcept {
  const auto at = position(set, key);
  return at != set.end() && at->key == key ? &*at : nullptr;
}

// `set` with `setting` in it; the same object when it is there already.
SettingSetPtr with(SettingsStore& store, const SettingSetPtr& set, Setting setting) {
  const Setting* known = find(*set, setting.key);
  if (known != nullptr && *known == setting) return set;
  SettingSet changed = *set;
  const auto at = changed.begin() + (position(*set, setting.key) - set->begin());
  if (known != nullptr)
    *at = std::move(setting);
  else
    changed.insert(at, std::move(setting));
  return store.intern(std::move(changed));
}

// The same bytes in every encoding.
bool same_everywhere(std::string_view text) noexcept {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

// Right whatever standard_conforming_strings is.
void append_literal(std::string& sql, std::string_view value) {
  if (value.find('\\') != std::string_view::npos) sql += 'E';
  sql += '\'';
  for (const char c : value) {
    if (c == '\'' || c == '\\') sql += c;
    sql += c;
  }
  sql += '\'';
}

}  // namespace

const std::string* value_of(const SettingSet& set, std::string_view key) noexcept {
  const Setting* setting = find(set, key);
  return setting == nullptr ? nullptr : &setting->value;
}

bool SettingsStore::Less::operator()(const SettingSetPtr& a, const SettingSetPtr& b) const noexcept {
  return std::lexicographical_compare(
      a->begin(), a->end(), b->begin(), b->end(), [](const Setting& x, const Setting& y) {
        return std::tie(x.key, x.value, x.name, x.reported) < std::tie(y.key, y.value, y.name, y.reported);
      });
}

SettingSetPtr SettingsStore::intern(SettingSet set) {
  auto made = std::make_shared<const SettingSet>(std::move(set));
  if (const auto known = known_.find(made); known != known_.end()) return *known;
  if (known_.size() >= sweep_at_) {
    std::erase_if(known_, [](const SettingSetPtr& held) { return held.use_count() == 1; });
    sweep_at_ = std::max<std::size_t>(64, 2 * known_.size());
  }
  return *known_.insert(std::move(made)).first;
}

TrackedSettings::TrackedSettings(std::span<const std::string> extra) {
  extra_.emplace_back(kRole);
  for (const std::string& name : extra)
    name == "*" ? void(all_ = true) : void(extra_.push_back(ascii_lower(name)));
  std::sort(extra_.begin(), extra_.end());
}

bool TrackedSettings::extra(std::string_view key) const noexcept {
  return all_ || std::binary_search(extra_.begin(), extra_.end(), key);
}

bool TrackedSettings::describes_server(std::string_view key) noexcept {
  return std::find(kDescribesServer.begin(), kDescribesServer.end(), key) != kDescribesServer.end();
}

void ServerSettings::set(Setting setting) {
  current_ = with(store_, current_, std::move(setting));
}

void ServerSettings::erase(std::string_view key) {
  SettingSet left = *current_;
  std::erase_if(left, [&](const Setting& setting) { return setting.key == key; });
  current_ = store_.intern(std::move(left));
}

void ServerSettings::on_reports(std::span<const std::pair<std::string, std::string>> reports) {
  for (const auto& [name, value] : reports)
    on_report(name, value);
}

void ServerSettings::on_report(std::string_view name, std::string_view value) {
  set(Setting{ascii_lower(name), std::string(name), std::string(value), true});
}

void ServerSettings::forget_unreported() {
  SettingSet left = *current_;
  std::erase_if(left, [](const Setting& setting) { return !setting.reported; });
  current_ = store_.intern(std::move(left));
}

ClientSettings::ClientSettings(SettingsStore& store, const TrackedSettings& tracked, Parameters startup)
    : store_(store), tracked_(tracked) {
  SettingSetPtr set = store.intern({});
  told_ = set;
  for (const auto& [name, value] : startup)
    set = with(store, set, Setting{ascii_lower(name), name, value, false});
  startup_ = set;
  wanted_ = set;
}

void ClientSettings::want(Setting setting) {
  if (setting.key == "standard_conforming_strings")
    backslash_ = setting.value == "off" ? Backslash::Escape : Backslash::Literal;
  wanted_ = with(store_, wanted_, std::move(setting));
}

void ClientSettings::want_nothing_of(std::string_view key) {
  if (find(*wanted_, key) == nullptr) return;
  SettingSet left = *wanted_;
  std::erase_if(left, [key](const Setting& setting) { return setting.key == key; });
  wanted_ = store_.intern(std::move(left));
}

void ClientSettings::greet(const ServerSettings& server) {
  SettingSet reported;
  for (const Setting& setting : *server.current_) {
    if (!setting.reported) continue;
    reported.push_back(setting);
    if (!TrackedSettings::describes_server(setting.key)) want(setting);
  }
  told_ = store_.intern(std::move(reported));
  in_step_with_ = server.current_;
}

// Roles come last, and the one that another client left goes first: a role may lack the right to set the
// rest.
std::vector<ClientSettings::Change> ClientSettings::changes(const ServerSettings& server,
                                                            Recoded recoded) const {
  std::vector<Change> made;
  std::vector<Change> roles;
  const SettingSet& has = *server.current_;
  for (const Setting& setting : *wanted_) {
    if (TrackedSettings::describes_server(setting.key)) continue;
    const Setting* known = find(has, setting.key);
    const bool comparable = recoded == Recoded::No || same_everywhere(setting.value);
    if (known != nullptr ? comparable && known->value == setting.value : setting.reported) continue;
    auto& to = setting.key == kRole || setting.key == kAuthorization ? roles : made;
    to.push_back(Change{setting.key, setting.name, setting.value});
  }
  for (const Setting& setting : has) {
    if (setting.reported || find(*wanted_, setting.key) != nullptr) continue;
    auto& to = setting.key == kRole ? roles : made;
    to.push_back(Change{setting.key, setting.name, std::nullopt});
  }
  const bool role_left = std::any_of(roles.begin(), roles.end(), [&](const Change& change) {
    return find(has, kRole) != nullptr && !change.key.empty();
  });
  if (role_left) made.insert(made.begin(), Change{std::string(kRole), std::string(kRole), "none"});
  // A new session authorization ends a role.
  std::sort(roles.begin(), roles.end(), [](const Change& a, const Change& b) { return a.key > b.key; });
  if (!roles.empty() && roles.front().key == kAuthorization && roles.size() == 1) {
    if (const Setting* role = find(*wanted_, kRole))
      roles.push_back(Change{role->key, role->name, role->value});
  }
  std::move(roles.begin(), roles.end(), std::back_inserter(made));
  return made;
}

std::string ClientSettings::sync_sql(const ServerSettings& server) {
  const std::string* const has = value_of(*server.current_, kEncoding);
  const std::string* const wants = value_of(*wanted_, kEncoding);
  const bool differs = has != nullptr && wants != nullptr && *has != *wants;
  const bool recoded = std::exchange(encoding_first_, false) || differs;
  running_ = changes(server, recoded ? Recoded::Yes : Recoded::No);
  if (differs && std::any_of(running_.begin(), running_.end(), [](const Change& change) {
        return !same_everywhere(change.name) || !same_everywhere(change.value.value_or(""));
      })) {
    encoding_first_ = true;
    running_ = {Change{std::string(kEncoding), std::string(kEncoding), *wants}};
  }
  if (running_.empty()) return {};
  std::string sql = "SELECT ";
  for (const Change& change : running_) {
    if (&change != &running_.front()) sql += ", ";
    sql += "pg_catalog.set_config(";
    append_literal(sql, change.name);
    sql += ", ";
    change.value ? append_literal(sql, *change.value) : void(sql += "NULL");
    sql += ", false)";
  }
  return sql;
}

bool ClientSettings::on_synced(ServerSettings& server, Values values) {
  for (std::size_t i = 0; i < running_.size() && i < values.size(); ++i) {
    Change& change = running_[i];
    const Setting* known = find(*server.current_, change.key);
    const bool is_reported = known != nullptr && known->reported;
    if (!change.value) {
      if (!is_reported) server.erase(change.key);
      continue;
    }
    Setting setting{change.key, is_reported ? known->name : change.name, values[i].value_or(""), is_reported};
    server.set(setting);
    // "none" in front of the client's own role, or of none, is no wish of the client's.
    if (find(*wanted_, change.key) != nullptr) want(std::move(setting));
  }
  running_.clear();
  return encoding_first_;
}

void ClientSettings::append_told(Bytes& to_client, const ServerSettings& server) {
  SettingSet reported;
  for (const Setting& setting : *server.current_) {
    if (!setting.reported) continue;
    const std::string* told = value_of(*told_, setting.key);
    if (told == nullptr || *told != setting.value)
      protocol::append_parameter_status(to_client, setting.name, setting.value);
    reported.push_back(setting);
  }
  told_ = store_.intern(std::move(reported));
  in_step_with_ = server.current_;
}

void ClientSettings::on_report(ServerSettings& server, std::string_view name, std::string_view value) {
  server.on_report(name, value);
  Setting setting{ascii_lower(name), std::string(name), std::string(value), true};
  if (setting.key == kEncoding) touch_what_it_recodes(setting);
  told_ = with(store_, told_, setting);
  if (!TrackedSettings::describes_server(setting.key)) want(std::move(setting));
}

// What is remembered is in the encoding of before.
void ClientSettings::touch_what_it_recodes(const Setting& encoding) {
  const std::string* const before = value_of(*wanted_, kEncoding);
  if (before == nullptr || *before == encoding.value) return;
  for (const Setting& setting : *wanted_) {
    if (same_everywhere(setting.value) || TrackedSettings::describes_server(setting.key)) continue;
    if (std::find(touched_.begin(), touched_.end(), setting.key) == touched_.end())
      touched_.push_back(setting.key);
  }
}

bool ClientSettings::follows(std::string_view key) const noexcept {
  return reported(key) || tracked_.extra(key) || find(*startup_, key) != nullptr ||
         TrackedSettings::describes_server(key) ||
         std::find(kOfTransaction.begin(), kOfTransaction.end(), key) != kOfTransaction.end();
}

bool ClientSettings::touch(std::string_view key) {
  if (std::find(touched_.begin(), touched_.end(), key) != touched_.end()) return true;
  if (touched_.size() >= kFollowedMax || wanted_->size() >= kFollowedMax || key.size() > kNameBytesMax)
    return false;
  touched_.emplace_back(key);
  return true;
}

bool ClientSettings::on_set(std::string_view key) {
  if (!follows(key)) return false;
  const bool told = reported(key) || TrackedSettings::describes_server(key) ||
                    std::find(kOfTransaction.begin(), kOfTransaction.end(), key) != kOfTransaction.end();
  return told || touch(key);
}

bool ClientSettings::on_reset(std::string_view key) {
  if (!on_set(key)) return false;
  if (find(*startup_, key) != nullptr) {
    if (!before_) before_ = wanted_;
    reset_.emplace_back(key);
  }
  return true;
}

void ClientSettings::on_reset_all(const ServerSettings& server) {
  if (!before_) before_ = wanted_;
  reset_.clear();
  for (const Setting& setting : *startup_)
    reset_.push_back(setting.key);
  for (const SettingSet* set : {wanted_.get(), server.current_.get()})
    for (const Setting& setting : *set)
      if (!setting.reported && !reported(setting.key)) touch(setting.key);
}

std::string ClientSettings::read_sql() const {
  std::string sql;
  for (const std::string& key : touched_) {
    sql += sql.empty() ? "SELECT " : ", ";
    sql += "pg_catalog.left(pg_catalog.current_setting(";
    append_literal(sql, key);
    sql += ", true), " + std::to_string(kFollowedBytesMax + 1) + ")";
  }
  return sql;
}

bool ClientSettings::on_read(ServerSettings& server, Values values) {
  std::size_t bytes = 0;
  for (const std::optional<std::string>& value : values)
    bytes += value ? value->size() : 0;
  if (bytes > kFollowedBytesMax) {  // not kept either: the session stays where they are
    touched_.clear();
    return false;
  }
  for (std::size_t i = 0; i < touched_.size() && i < values.size(); ++i) {
    if (!values[i]) {
      server.erase(touched_[i]);
      want_nothing_of(touched_[i]);
      continue;
    }
    const Setting* const known = find(*server.current_, touched_[i]);
    const bool is_reported = known != nullptr && known->reported;
    const Setting setting{touched_[i], is_reported ? known->name : touched_[i], *values[i], is_reported};
    server.set(setting);
    want(setting);
  }
  touched_.clear();
  return portable();
}

// With pg_temp in the search_path there may be temporary tables that no text has told of.
bool ClientSettings::portable() const {
  std::size_t bytes = 0;
  for (const Setting& setting : *wanted_) {
    if (setting.key == "search_path" && ascii_lower(setting.value).find("pg_temp") != std::string::npos)
      return false;
    if (!setting.reported) bytes += setting.name.size() + setting.value.size();
  }
  return bytes <= kFollowedBytesMax;
}

void ClientSettings::on_hand_back(const ServerSettings& server) {
  in_step_with_ = server.current_;
  for (const std::string& key : reset_) {
    const Setting* wish = find(*startup_, key);
    const std::string* was = value_of(*before_, key);
    const Setting* now = find(*wanted_, key);
    // A RESET that was rolled back has changed nothing.
    if (was != nullptr && now != nullptr && *was == now->value) continue;
    Setting back = *wish;
    if (now != nullptr) {
      back.name = now->name;
      back.reported = now->reported;
    }
    if (now == nullptr || now->value != back.value) in_step_with_ = nullptr;
    want(std::move(back));
  }
  reset_.clear();
  before_ = nullptr;
}

std::string ClientSettings::parse_scope() const {
  std::string scope;
  for (const std::string_view key : kParseSettings) {
    if (const std::string* value = value_of(*wanted_, key)) scope += *value;
    scope += '\0';
  }
  return scope;
}

}  // namespace sluice::pooling
