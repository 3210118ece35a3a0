#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sluice/rng.h"

#include "bench/problem.h"
#include "bench/scale.h"

namespace sluice::bench {

struct SourceFile {
  std::string name, text;
};

struct RandomInteger {
  std::int64_t low = 0, high = 0;  // low <= high, both among the values
  friend bool operator==(const RandomInteger&, const RandomInteger&) = default;
};
struct RandomChoice {
  std::vector<std::string> values;  // not empty
  friend bool operator==(const RandomChoice&, const RandomChoice&) = default;
};

struct Parameter {
  std::string name;
  std::variant<RandomInteger, RandomChoice> from;
  friend bool operator==(const Parameter&, const Parameter&) = default;
};

// A query with its parameters, which are drawn anew for each execution.
struct QueryShape {
  std::string name;                   // the file's, without ".sql"
  std::string sql;                    // one statement with $1, $2, ...
  std::vector<Parameter> parameters;  // in that order

  // A value for each parameter, as text. One or more random numbers for each.
  std::vector<std::optional<std::string>> draw(Rng& rng) const;
};

// Reads a file of this form:
//   \set size random(1, 50)
//   \set part random(1, 200000 * :scale)
//   \set region choice('ASIA', 'EUROPE')
//   select ... where p_size = :size::int
// :name becomes a parameter $n, typed by what the statement makes of it; :scale the number of --scale itself.
// Neither is looked for in literals, quoted names and comments. One statement; a semicolon may follow it.
std::variant<QueryShape, Problem> parse_query_file(const SourceFile& file, const Scale& scale);

// The text with the number for every :scale, wherever it stands, also within literals: for scripts of many
// statements, some of which hold others.
std::string with_scale(std::string_view text, const Scale& scale);

}  // namespace sluice::bench
