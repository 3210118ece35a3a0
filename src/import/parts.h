#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "import/translate.h"

// What translate() is made of.
namespace sluice::import {

// The keys of [pgbouncer] as they hold: the last of equals wins, as with PgBouncer.
class Settings {
 public:
  explicit Settings(const Ini& ini);
  // The value, or nullptr where the key is not given.
  const IniEntry* find(std::string_view key) const;
  std::string value(std::string_view key, std::string_view otherwise) const;
  const std::vector<const IniEntry*>& in_order() const { return order_; }

 private:
  std::map<std::string, const IniEntry*, std::less<>> last_;
  std::vector<const IniEntry*> order_;  // those that hold
};

// Lines of the YAML file and notes beside them.
struct Output {
  std::string yaml;
  std::vector<Note> notes;
  void line(std::string_view text) { yaml.append(text).append("\n"); }
  // Also a comment of the YAML file.
  void note(const Place& place, std::string key, std::string text);
};

// `key: value` of one of our options if the value is one, else a note.
void put_option(Output& out, const IniEntry& entry, std::string_view key, std::string_view value);
bool is_option(std::string_view key);

// A key without an equivalent, with what people can do. An empty text: nothing has to be done.
struct MissingKey {
  std::string_view key, text;
};
// Nullptr where it is not among them.
const MissingKey* find_missing(std::span<const MissingKey> missing, std::string_view key) noexcept;

void translate_settings(const Settings& settings, const Sources& sources, Output& out);  // [pgbouncer]
// The rules of auth_hba_file, where auth_type is hba. `problems`: why that cannot be read, or cannot do
// without a rule that has no equivalent.
void translate_hba(const Settings& settings, const ReadFile& read, Output& out, std::vector<Note>& problems);
void translate_databases(const Ini& ini, const Settings& settings, Output& out);  // [databases]
void translate_rest(const Ini& ini, Output& out);  // [users], [peers], unknown sections

}  // namespace sluice::import
