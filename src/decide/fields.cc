#include "decide/fields.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "decide/json_line.h"

namespace sluice::decide {
namespace {

using nlohmann::json;

const json kEmptyObject = json::object();
const json kEmptyArray = json::array();

std::string in_quotes(const char* name) {
  return "'" + std::string(name) + "'";
}

}  // namespace

std::optional<std::int64_t> whole_number(const json& value, std::int64_t min, std::int64_t max) {
  if (!value.is_number_integer()) return std::nullopt;
  if (value.is_number_unsigned() &&
      value.get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    return std::nullopt;
  const auto number = value.get<std::int64_t>();
  if (number < min || number > max) return std::nullopt;
  return number;
}

Fields::Fields(const json& value, std::string where, std::string& problem)
    : value_(value.is_object() ? value : kEmptyObject), where_(std::move(where)), problem_(problem) {
  if (!value.is_object()) fail("must be a JSON object");
}

void Fields::fail(const std::string& reason) {
  if (problem_.empty()) problem_ = where_ + reason;
}

void Fields::allow_only(std::initializer_list<const char*> names) {
  for (const auto& entry : value_.items())
    if (std::none_of(names.begin(), names.end(), [&](const char* name) { return entry.key() == name; }))
      fail("unknown field " + in_json_quotes(entry.key()));
}

const json* Fields::find(const char* name) const {
  const auto found = value_.find(name);
  return found == value_.end() ? nullptr : &*found;
}

const json* Fields::require(const char* name) {
  const json* found = find(name);
  if (found == nullptr) fail(in_quotes(name) + " is missing");
  return found;
}

bool Fields::has(const char* name) const {
  return find(name) != nullptr;
}

std::string Fields::text(const char* name) {
  const json* found = require(name);
  if (found == nullptr) return "";
  if (found->is_string() && !found->get_ref<const std::string&>().empty()) return found->get<std::string>();
  fail(in_quotes(name) + " must be a string that is not empty");
  return "";
}

std::optional<std::string> Fields::maybe_text(const char* name) {
  const json* found = find(name);
  if (found == nullptr) return std::nullopt;
  if (found->is_string()) return found->get<std::string>();
  fail(in_quotes(name) + " must be a string");
  return std::nullopt;
}

bool Fields::flag(const char* name, bool otherwise) {
  const json* found = find(name);
  if (found == nullptr) return otherwise;
  if (found->is_boolean()) return found->get<bool>();
  fail(in_quotes(name) + " must be true or false");
  return otherwise;
}

std::int64_t Fields::integer(const char* name, std::int64_t min, std::int64_t max) {
  const json* found = require(name);
  if (found == nullptr) return min;
  if (const auto number = whole_number(*found, min, max)) return *number;
  fail(in_quotes(name) + " must be a whole number in " + std::to_string(min) + ".." + std::to_string(max));
  return min;
}

std::uint64_t Fields::unsigned_integer(const char* name, std::uint64_t otherwise) {
  const json* found = find(name);
  if (found == nullptr) return otherwise;
  if (found->is_number_unsigned()) return found->get<std::uint64_t>();
  fail(in_quotes(name) + " must be a whole number in 0.." +
       std::to_string(std::numeric_limits<std::uint64_t>::max()));
  return otherwise;
}

std::optional<double> Fields::maybe_amount(const char* name) {
  const json* found = find(name);
  if (found == nullptr) return std::nullopt;
  if (found->is_number()) {
    const auto amount = found->get<double>();
    if (std::isfinite(amount) && amount >= 0) return amount;
  }
  fail(in_quotes(name) + " must be a number that is not negative");
  return std::nullopt;
}

Weight Fields::weight(const char* name) {
  const json* found = require(name);
  if (found == nullptr) return {};
  // A number's shortest text is the one that was meant: 1.1 is 1.1 and not the double beside it.
  const std::string text = found->is_string() ? found->get<std::string>() : found->dump();
  const bool fits = found->is_string() || found->is_number();
  if (const auto weight =
          fits ? Weight::parse(text.ends_with(".0") ? text.substr(0, text.size() - 2) : text) : std::nullopt)
    return *weight;
  fail(in_quotes(name) + " must be a decimal from 0.001 to 1000 with at most three digits after the point");
  return {};
}

const json& Fields::array(const char* name) {
  const json* found = require(name);
  if (found == nullptr) return kEmptyArray;
  if (found->is_array()) return *found;
  fail(in_quotes(name) + " must be an array");
  return kEmptyArray;
}

const json& Fields::maybe_object(const char* name) {
  const json* found = find(name);
  if (found == nullptr) return kEmptyObject;
  if (found->is_object()) return *found;
  fail(in_quotes(name) + " must be an object");
  return kEmptyObject;
}

}  // namespace sluice::decide
