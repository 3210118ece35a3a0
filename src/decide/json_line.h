#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace sluice::decide {

inline constexpr std::size_t kLineBytesMax = 4 * 1024 * 1024;
inline constexpr int kDepthMax = 8;  // an event needs four

struct JsonLine {
  nlohmann::json value;
  std::string problem;  // empty if `value` is good
};

// Reads one JSON value. A problem is any fault of syntax or encoding, a number beyond what a double or 64
// bits hold, nesting deeper than kDepthMax, or an object that has a key twice. Throws nothing but bad_alloc.
JsonLine parse_json_line(std::string_view line);

// For messages: the text in JSON's quotes and escapes, cut when long. One line, whatever the text.
std::string in_json_quotes(std::string_view text);

}  // namespace sluice::decide
