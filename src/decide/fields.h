#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "sluice/weight.h"

namespace sluice::decide {

// Reads the members of one JSON object and keeps the first thing wrong with them. After a problem the getters
// give empty values, so that a reader needs no test after each.
class Fields {
 public:
  // `where` begins each message: "" at the top, "classes[1]: " inside.
  Fields(const nlohmann::json& value, std::string where, std::string& problem);

  // Anything but these is a problem. Call first.
  void allow_only(std::initializer_list<const char*> names);

  std::string text(const char* name);  // required, not empty
  std::optional<std::string> maybe_text(const char* name);
  bool flag(const char* name, bool otherwise);                                 // optional
  std::int64_t integer(const char* name, std::int64_t min, std::int64_t max);  // required
  std::uint64_t unsigned_integer(const char* name, std::uint64_t otherwise);   // optional, whole 64 bits
  std::optional<double> maybe_amount(const char* name);                        // not negative
  Weight weight(const char* name);                                             // a number or a decimal string
  const nlohmann::json& array(const char* name);                               // required
  const nlohmann::json& maybe_object(const char* name);                        // {} if it is not there

  bool has(const char* name) const;
  void fail(const std::string& reason);

 private:
  const nlohmann::json* find(const char* name) const;
  const nlohmann::json* require(const char* name);

  const nlohmann::json& value_;
  std::string where_;
  std::string& problem_;
};

// A whole number in [min, max], or nullopt: not a number, a fraction, out of range.
std::optional<std::int64_t> whole_number(const nlohmann::json&, std::int64_t min, std::int64_t max);

}  // namespace sluice::decide
