#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "config/config.h"
#include "config/yaml_tree.h"

// The rows of options.def and tables/*.def as data: what the parser, the check, SHOW CONFIG, the sample file,
// the reference page and the comparison of two configurations go by.
namespace sluice::config {

enum class Apply { OnReload, Restart };
enum class Secrecy { Public, Secret };
enum class Presence { Required, Optional };

struct Limits {
  std::int64_t min = 0;
  std::int64_t max = 0;
};

// One member of the record R.
template <class R>
struct Field {
  std::string_view group;  // options only; fields of one group stand together
  std::string_view key;
  Limits limits;
  Apply apply = Apply::OnReload;
  Secrecy secrecy = Secrecy::Public;
  Presence presence = Presence::Optional;
  std::string_view help;
  std::string (*expects)(const Limits&);  // "a number of seconds from 1 to 600"
  // Reads the node into the record. Empty: done. Else what is wrong; the record is unchanged.
  std::string (*read)(R&, const Node&, const Limits&);
  std::string (*print)(const R&);  // as it stands in a file: quotes where needed, times and sizes with a unit
  std::string (*console)(const R&);  // bare: no quotes, times and sizes as numbers in the kind's unit
};

template <class R>
std::span<const Field<R>> fields_of();
template <>
std::span<const Field<Options>> fields_of<Options>();
template <>
std::span<const Field<Listener>> fields_of<Listener>();
template <>
std::span<const Field<Server>> fields_of<Server>();
template <>
std::span<const Field<PriorityClass>> fields_of<PriorityClass>();
template <>
std::span<const Field<ClassRule>> fields_of<ClassRule>();
template <>
std::span<const Field<Budget>> fields_of<Budget>();
template <>
std::span<const Field<OriginHost>> fields_of<OriginHost>();
template <>
std::span<const Field<Database>> fields_of<Database>();
template <>
std::span<const Field<UserSettings>> fields_of<UserSettings>();
template <>
std::span<const Field<HbaRule>> fields_of<HbaRule>();

// The keys of the top level that hold records.
struct ListKey {
  std::string_view key;
  Apply apply;
  std::string_view help;
};
std::span<const ListKey> list_keys();

// One line of YAML flow style, `{name: a, port: 1}`, with the fields that differ from their defaults.
template <class R>
std::string print_record(const R& record) {
  static const R defaults{};
  std::string out = "{";
  for (const Field<R>& field : fields_of<R>()) {
    const std::string text = field.print(record);
    if (field.presence == Presence::Optional && text == field.print(defaults)) continue;
    out += (out.size() > 1 ? ", " : "") + std::string(field.key) + ": " + text;
  }
  return out + "}";
}

}  // namespace sluice::config
