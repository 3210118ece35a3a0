#include "demo/table.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

namespace sluice::demo {
namespace {

constexpr std::string_view kBold = "\033[1m", kGreen = "\033[32m", kYellow = "\033[33m", kRed = "\033[31m",
                           kDim = "\033[2m", kPlain = "\033[0m";

// Cut first, coloured then: an escape sequence has no width.
std::string painted(std::string text, std::string_view escape, std::size_t columns, Colour colour) {
  if (text.size() > columns) text.resize(columns);
  if (colour == Colour::Off || escape.empty()) return text;
  return std::string(escape) + text + std::string(kPlain);
}

std::string elapsed_text(std::chrono::seconds elapsed) {
  return fmt::format("{}:{:02}", elapsed.count() / 60, elapsed.count() % 60);
}

std::string pool_text(const ObservedReplica& replica) {
  if (!replica.up) return "down";
  if (replica.pool.empty()) return "-";
  return replica.borrowed ? replica.pool + " (borrowed)" : replica.pool;
}

std::string_view replica_colour(const ObservedReplica& replica) {
  if (!replica.up) return kRed;
  if (replica.borrowed) return kYellow;
  return replica.role == "primary" ? kDim : std::string_view();
}

std::int64_t sessions_of(const TableState& state, std::size_t class_index) {
  std::int64_t sum = 0;
  for (const ObservedReplica& replica : state.replicas)
    if (class_index < replica.sessions.size()) sum += replica.sessions[class_index];
  return sum;
}

// "r1 r2 +r5": a plus before what is borrowed.
std::string pool_members(const TableState& state, const std::string& pool) {
  std::string result;
  for (const ObservedReplica& replica : state.replicas) {
    if (replica.pool != pool || !replica.up) continue;
    if (!result.empty()) result += ' ';
    if (replica.borrowed) result += '+';
    result += replica.name;
  }
  return result.empty() ? "-" : result;
}

struct Line {
  std::string text;
  std::string_view escape;
};

std::vector<Line> replica_part(const TableState& state) {
  std::string head = fmt::format("  {:<10}{:<10}{:<22}", "replica", "role", "pool");
  for (const ClassState& row : state.classes)
    head += fmt::format("{:>12}", row.name);
  std::vector<Line> lines{{head, kBold}};
  for (const ObservedReplica& replica : state.replicas) {
    std::string text = fmt::format("  {:<10}{:<10}{:<22}", replica.name,
                                   replica.role == "primary" ? "primary" : "standby", pool_text(replica));
    for (const std::int64_t count : replica.sessions)
      text += fmt::format("{:>12}", count);
    lines.push_back({text, replica_colour(replica)});
  }
  return lines;
}

std::vector<Line> class_part(const TableState& state) {
  std::vector<Line> lines{{fmt::format("  {:<9}{:>9}  {:<15}{:>9}{:>9}{:>9}{:>9}{:>6}", "class", "sessions",
                                       "replicas", "borrowed", "returned", "median", "p95", "q/s"),
                           kBold}};
  for (std::size_t i = 0; i < state.classes.size(); ++i) {
    const ClassState& row = state.classes[i];
    lines.push_back(
        {fmt::format("  {:<9}{:>9}  {:<15}{:>9}{:>9}{:>9}{:>9}{:>6.0f}", row.name, sessions_of(state, i),
                     pool_members(state, row.name), row.borrowings, row.returns,
                     milliseconds_text(row.response.median_seconds),
                     milliseconds_text(row.response.p95_seconds), row.response.queries_per_second),
         i == 0 ? kGreen : std::string_view()});
  }
  return lines;
}

std::string calls_text(const ObservedRoute& route) {
  return route.n_serial ? fmt::format("{:.1f}", *route.n_serial) : "-";
}

std::vector<Line> route_part(const TableState& state) {
  if (state.routes.empty()) return {};
  std::vector<Line> lines{
      {fmt::format("  {:<10}{:<10}{:>9}  {}", "page", "runs on", "N_serial", "placed by"), kBold}};
  for (const ObservedRoute& route : state.routes)
    lines.push_back(
        {fmt::format("  {:<10}{:<10}{:>9}  {}", route.route, route.host.empty() ? "nowhere" : route.host,
                     calls_text(route), route.policy),
         {}});
  lines.push_back({"", {}});
  return lines;
}

// "/item on edge, /feed on core".
std::string routes_text(const TableState& state) {
  std::string text;
  for (const ObservedRoute& route : state.routes)
    text += fmt::format("{}{} on {}", text.empty() ? "" : ", ", route.route,
                        route.host.empty() ? "nowhere" : route.host);
  return text;
}

}  // namespace

std::string milliseconds_text(const std::optional<double>& seconds) {
  if (!seconds) return "-";
  const double ms = *seconds * 1000;
  return ms < 100 ? fmt::format("{:.1f} ms", ms) : fmt::format("{:.0f} ms", ms);
}

std::string change_line(const RoleChange& change) {
  return fmt::format("{}  {} {} {} {} {}", change.time, change.priority_class,
                     change.borrow ? "borrows" : "returns", change.replica, change.borrow ? "from" : "to",
                     change.borrow ? change.from : change.to);
}

std::vector<std::string> table_lines(const TableState& state, std::size_t columns, std::size_t rows,
                                     Colour colour) {
  std::vector<Line> lines{{fmt::format("Sluice demo   {}   {:<14}  Ctrl-C stops and removes everything",
                                       elapsed_text(state.elapsed), state.phase),
                           kBold},
                          {"", {}}};
  for (std::vector<Line> part : {replica_part(state), class_part(state)}) {
    lines.insert(lines.end(), part.begin(), part.end());
    lines.push_back({"", {}});
  }
  for (Line& line : route_part(state))
    lines.push_back(std::move(line));
  if (lines.size() > rows) lines.resize(rows);
  const std::size_t shown = std::min(state.changes.size(), rows - lines.size());
  for (std::size_t i = state.changes.size() - shown; i < state.changes.size(); ++i)
    lines.push_back({"  " + change_line(state.changes[i]), state.changes[i].borrow ? kYellow : kGreen});
  std::vector<std::string> result;
  for (Line& line : lines)
    result.push_back(painted(std::move(line.text), line.escape, columns, colour));
  return result;
}

std::string status_line(const TableState& state) {
  std::string line = fmt::format("{:>5}  {:<13}", elapsed_text(state.elapsed), state.phase);
  for (std::size_t i = 0; i < state.classes.size(); ++i) {
    const ClassState& row = state.classes[i];
    line += fmt::format("  {}: {} sessions on {}, median {}, p95 {};", row.name, sessions_of(state, i),
                        pool_members(state, row.name), milliseconds_text(row.response.median_seconds),
                        milliseconds_text(row.response.p95_seconds));
  }
  line += fmt::format("  mixed: {}", pool_members(state, "mixed"));
  if (!state.routes.empty()) line += fmt::format("; {}", routes_text(state));
  return line;
}

std::vector<std::string> summary_lines(const TableState& state, int runs, int failed_runs) {
  std::vector<std::string> lines{fmt::format("Summary after {} s", state.elapsed.count())};
  std::int64_t borrowings = 0, returns = 0;
  for (const ClassState& row : state.classes) {
    lines.push_back(fmt::format("  {}: {} borrowings, {} returns, {:.0f} queries/s, median {}, p95 {}",
                                row.name, row.borrowings, row.returns, row.response.queries_per_second,
                                milliseconds_text(row.response.median_seconds),
                                milliseconds_text(row.response.p95_seconds)));
    borrowings += row.borrowings;
    returns += row.returns;
  }
  lines.push_back(fmt::format("  borrowings: {}  returns: {}", borrowings, returns));
  if (!state.routes.empty()) lines.push_back("  placement: " + routes_text(state));
  lines.push_back(fmt::format("  load: {} pgbench runs, {} failed", runs, failed_runs));
  return lines;
}

}  // namespace sluice::demo
