#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sluice::config {

enum class Severity { Error, Warning };

// One thing wrong with a configuration, for people.
struct Problem {
  std::string file;          // as it was opened
  std::uint32_t line = 0;    // from 1; 0 = the file as a whole
  std::uint32_t column = 0;  // from 1; 0 = the line as a whole
  Severity severity = Severity::Error;
  std::string key;      // "server_connect_timeout", "rules[2].class"; empty = no key in particular
  std::string message;  // one clause without a full stop; names the value and the range, never a secret
  std::string hint;     // what to do; may be empty

  friend bool operator==(const Problem&, const Problem&) = default;
};
using Problems = std::vector<Problem>;

// Nobody reads more of one severity about one file; a hostile file could cause millions.
inline constexpr std::size_t kProblemCountMax = 200;

bool has_errors(const Problems&);

// The configuration's own file first, by line; then the others, in the order in which they were read.
void sort_problems(Problems&, const std::string& file);

// "sluice.yaml:12:3: error: server_conect_timeout: unknown key; did you mean server_connect_timeout?"
std::string to_string(const Problem&);

}  // namespace sluice::config
