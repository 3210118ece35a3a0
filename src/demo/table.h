#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "demo/observation.h"
#include "demo/response_times.h"

// The live table as text. Pure.
namespace sluice::demo {

struct ClassState {
  std::string name;
  ResponseTimes response;
  std::int64_t borrowings = 0, returns = 0;  // since the start
};

struct TableState {
  std::chrono::seconds elapsed{};
  std::string phase;
  std::vector<ClassState> classes;        // highest first
  std::vector<ObservedReplica> replicas;  // as the router lists them
  std::vector<RoleChange> changes;        // oldest first
  std::vector<ObservedRoute> routes;      // as the placer lists them
};

enum class Colour { Off, On };

// The whole table: lines without line ends, none wider than `columns` characters, at most `rows` of them;
// where there are too many, older changes are left out. For a terminal that redraws it in place.
std::vector<std::string> table_lines(const TableState& state, std::size_t columns, std::size_t rows,
                                     Colour colour);

// One line for an output that is no terminal.
std::string status_line(const TableState& state);
std::string change_line(const RoleChange& change);  // "12:34:56  premium borrows r5 from mixed"
std::string milliseconds_text(const std::optional<double>& seconds);  // "5.3 ms", "-" without a value

// The words at the end: what was seen.
std::vector<std::string> summary_lines(const TableState& state, int runs, int failed_runs);

}  // namespace sluice::demo
