#pragma once

#include <string>
#include <vector>

#include "config/fields.h"
#include "config/kind_text.h"

// Turns the rows of *.def files into Field tables. A row's record type is `Record` where the macros are used.
namespace sluice::config::rows {

// A value without quotes, times and sizes as numbers in the kind's unit.
inline std::string bare(std::chrono::seconds value) {
  return std::to_string(value.count());
}
inline std::string bare(std::chrono::milliseconds value) {
  return std::to_string(value.count());
}
inline std::string bare(std::uint32_t value) {
  return std::to_string(value);
}
inline std::string bare(std::uint16_t permissions) {
  return KindText<kind::FileMode>::print(permissions);
}
inline std::string bare(std::uint64_t value) {
  return std::to_string(value);
}
inline std::string bare(bool value) {
  return value ? "1" : "0";
}
inline std::string bare(const std::string& value) {
  return value;
}
inline std::string bare(Ratio value) {
  return value.to_string();
}
inline std::string bare(Weight value) {
  return value.to_string();
}
inline std::string bare(const std::vector<std::string>& value) {
  std::string out;
  for (const std::string& text : value)
    out += (out.empty() ? "" : ",") + text;
  return out;
}
inline std::string bare(const Networks& value) {
  std::vector<std::string> texts;
  for (const Network& network : value)
    texts.push_back(to_string(network));
  return bare(texts);
}
template <class E>
requires std::is_enum_v<E> std::string bare(E value) {
  return std::string(word_of(value));
}
inline std::string bare(const NamedTimes& value) {
  return KindText<kind::Times>::print(value);
}
inline std::string bare(const NamedNumbers& value) {
  return KindText<kind::Numbers>::print(value);
}
inline std::string bare(const SerialCalls& value) {
  return KindText<kind::Serial>::print(value);
}

}  // namespace sluice::config::rows

#define SLUICE_HANDLE(kind_, member)                                                    \
  [](const Limits& limits) { return KindText<kind::kind_>::expects(limits); },          \
      [](Record& record, const Node& node, const Limits& limits) {                      \
        return KindText<kind::kind_>::read(node, limits, record.member);                \
      },                                                                                \
      [](const Record& record) { return KindText<kind::kind_>::print(record.member); }, \
      [](const Record& record) { return rows::bare(record.member); }

// Of a table of options: `fields` and `group` are variables.
#define SLUICE_OPTION_GROUP(title) group = title;
#define SLUICE_OPTION_ROW(kind_, name, default_, min, max, apply, secrecy, help) \
  fields.push_back({group,                                                       \
                    #name,                                                       \
                    {min, max},                                                  \
                    Apply::apply,                                                \
                    Secrecy::secrecy,                                            \
                    Presence::Optional,                                          \
                    help,                                                        \
                    SLUICE_HANDLE(kind_, name)});

// Of a table of records.
#define SLUICE_RECORD_ROW(kind_, member, key, default_, min, max, presence, help) \
  Field<Record>{"",                                                               \
                key,                                                              \
                {min, max},                                                       \
                Apply::OnReload,                                                  \
                Secrecy::Public,                                                  \
                Presence::presence,                                               \
                help,                                                             \
                SLUICE_HANDLE(kind_, member)},
