#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "bench/query_file.h"

namespace sluice::bench {

// What terminals run, and what makes and checks the data for it.
struct Workload {
  std::string name;
  std::string
      digest;  // 16 hexadecimal digits of the files' names and texts, but for check.sql's: what was measured
  std::vector<SourceFile> init;     // init_*.sql in the order of their names, each a simple query
  std::optional<SourceFile> check;  // check.sql: rows of name, expected, found, ok
  std::vector<QueryShape> queries;  // the other *.sql, in the order of their names
};

// From files in any order. `name` is for people.
std::variant<Workload, Problem> parse_workload(std::string name, std::vector<SourceFile> files,
                                               const Scale& scale);

// A workload of the program's own: src/bench/workloads/NAME at build time.
struct EmbeddedFile {
  std::string_view workload, name, text;
};
std::span<const EmbeddedFile> embedded_files() noexcept;
std::vector<std::string> embedded_names();                        // ascending
std::vector<SourceFile> embedded_sources(std::string_view name);  // none: no such workload

}  // namespace sluice::bench
