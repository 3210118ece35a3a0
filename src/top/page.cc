#include "top/page.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <numeric>

#include "top/text_width.h"

namespace sluice::top {
namespace {

using Cells = std::vector<std::string>;

struct Grid {
  Cells head;
  std::vector<Cells> rows;
  std::vector<bool> warn;        // of each row
  std::size_t text_columns = 1;  // the first ones are text, aligned left; the rest are numbers
};

std::string format(const char* pattern, double value) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), pattern, value);
  return text.data();
}

// Appends the grid, each column as wide as its widest cell; what does not fit is cut off at the right.
void draw(const Grid& grid, std::size_t columns, std::vector<Line>& lines) {
  constexpr std::size_t kCellMax = 40;
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < grid.head.size(); ++c) {
    std::size_t widest = width(grid.head[c]);
    for (const Cells& row : grid.rows)
      widest = std::max(widest, width(row[c]));
    widths.push_back(std::min(widest, kCellMax));
  }
  const auto line = [&](const Cells& cells, Style style) {
    std::string text;
    for (std::size_t c = 0; c < cells.size(); ++c)
      text += (c == 0 ? "" : "  ") + fit(cells[c], widths[c], c < grid.text_columns ? Pad::Right : Pad::Left);
    lines.push_back({fit(text, columns), style});
  };
  line(grid.head, Style::Heading);
  for (std::size_t r = 0; r < grid.rows.size(); ++r)
    line(grid.rows[r], grid.warn[r] ? Style::Warning : Style::Plain);
}

// Per second, between two samples of a counter that only grows; empty where there are no two.
class Rates {
 public:
  Rates(const Sample& now, const std::optional<Sample>& before) : now_(now), before_(before) {
    if (before) seconds_ = std::chrono::duration<double>(now.taken_at - before->taken_at).count();
  }
  std::optional<double> of(std::int64_t value, std::int64_t earlier) const {
    if (!before_ || seconds_ <= 0 || value < earlier) return std::nullopt;
    return static_cast<double>(value - earlier) / seconds_;
  }
  std::string total(std::string_view column) const {
    return text(of(now_.stats.sum(column), before_ ? before_->stats.sum(column) : 0));
  }
  static std::string text(std::optional<double> rate) { return rate ? short_number(*rate) : "-"; }

 private:
  const Sample& now_;
  const std::optional<Sample>& before_;
  double seconds_ = 0;
};

void head(const Sample& now, const Rates& rates, const View& view, std::vector<Line>& lines) {
  const bool ready = now.state.find("key", "ready", "value") == "yes";
  const bool paused = now.state.find("key", "paused", "value") == "yes";
  std::string state = ready ? "ready" : "NOT READY: " + std::string(now.state.find("key", "reason", "value"));
  if (paused) state += ", PAUSED";
  lines.push_back(
      {fit(std::string(now.version.text(0, "version")) + "  " + view.where + "  " + state, view.columns),
       ready && !paused ? Style::Title : Style::Warning});
  const auto list = [&](std::string_view name) { return std::string(now.lists.find("list", name, "items")); };
  const std::int64_t waiting = now.pools.sum("cl_waiting");
  lines.push_back({fit("clients " + list("used_clients") + "  waiting " + std::to_string(waiting) +
                           "  logging in " + list("login_clients") + "  servers in use " +
                           list("used_servers") + ", idle " + list("free_servers"),
                       view.columns),
                   waiting > 0 ? Style::Warning : Style::Plain});
  lines.push_back({fit("per second: sessions " + rates.total("client_login_count") + "  transactions " +
                           rates.total("xact_count") + "  queries " + rates.total("query_count") + "  in " +
                           rates.total("bytes_received") + "B  out " + rates.total("bytes_sent") + "B",
                       view.columns)});
}

std::int64_t outcome(const Table& classes, std::size_t row, std::string_view wanted) {
  std::int64_t sum = 0;
  for (const auto& [name, count] : parse_counts(classes.text(row, "outcomes")))
    if (name.starts_with(wanted)) sum += count;
  return sum;
}

void classes(const Sample& now, const std::optional<Sample>& before, const Rates& rates, const View& view,
             std::vector<Line>& lines) {
  Grid grid;
  grid.head = {"class",    "sessions",   "waiting",   "replicas", "borrowed", "own/s",
               "borrow/s", "fallback/s", "refused/s", "median",   "p95"};
  for (std::size_t r = 0; r < now.classes.size(); ++r) {
    const auto rate = [&](std::string_view name) {
      const std::int64_t earlier =
          before && r < before->classes.size() ? outcome(before->classes, r, name) : 0;
      return Rates::text(rates.of(outcome(now.classes, r, name), earlier));
    };
    const std::int64_t waiting = now.classes.count(r, "waiting");
    grid.rows.push_back({std::string(now.classes.text(r, "name")),
                         std::string(now.classes.text(r, "sessions")), std::to_string(waiting),
                         std::string(now.classes.text(r, "replicas")),
                         std::string(now.classes.text(r, "borrowed")), rate("own"), rate("borrowed"),
                         rate("fallback"), rate("refused"), short_time(now.classes.number(r, "median_us")),
                         short_time(now.classes.number(r, "p95_us"))});
    grid.warn.push_back(waiting > 0);
  }
  draw(grid, view.columns, lines);
}

std::vector<std::size_t> order(std::size_t count, bool reversed, const auto& before) {
  std::vector<std::size_t> rows(count);
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  std::stable_sort(rows.begin(), rows.end(), before);
  if (reversed) std::reverse(rows.begin(), rows.end());
  return rows;
}

std::string flags(const Table& replicas, std::size_t row) {
  if (replicas.text(row, "up") != "yes") return "down";
  return replicas.text(row, "draining") == "yes" ? "draining" : "up";
}

void replicas(const Sample& now, const View& view, std::vector<Line>& lines) {
  const Table& table = now.replicas;
  Grid grid;
  grid.text_columns = 4;
  grid.head = {"replica", "role", "pool", "state", "sessions"};
  const auto classes = parse_counts(table.size() > 0 ? table.text(0, "loads") : "");
  for (const auto& [name, count] : classes)
    grid.head.push_back(name);
  for (const char* const column : {"servers", "idle", "lag", "probe"})
    grid.head.emplace_back(column);
  const auto rows = order(table.size(), view.reversed, [&](std::size_t a, std::size_t b) {
    if (view.sort == Sort::Sessions) return table.count(a, "sessions") > table.count(b, "sessions");
    if (view.sort == Sort::Lag) return table.count(a, "lag_ms") > table.count(b, "lag_ms");
    return table.text(a, "name") < table.text(b, "name");
  });
  for (const std::size_t r : rows) {
    const std::string pool(table.text(r, "pool"));
    const bool borrowed = table.text(r, "borrowed") == "yes";
    Cells cells{std::string(table.text(r, "name")), std::string(table.text(r, "role")),
                pool.empty() ? "-" : pool + (borrowed ? " (borrowed)" : ""), flags(table, r),
                std::string(table.text(r, "sessions"))};
    const auto loads = parse_counts(table.text(r, "loads"));
    for (std::size_t c = 0; c < classes.size(); ++c)
      cells.push_back(c < loads.size() ? std::to_string(loads[c].second) : "-");
    cells.emplace_back(table.text(r, "sv_active"));
    cells.emplace_back(table.text(r, "sv_idle"));
    const auto lag = table.number(r, "lag_ms");
    cells.push_back(short_time(lag ? std::optional(*lag * 1000) : std::nullopt));
    cells.push_back(short_time(table.number(r, "probe_us")));
    grid.rows.push_back(std::move(cells));
    grid.warn.push_back(table.text(r, "up") != "yes");
  }
  draw(grid, view.columns, lines);
}

void pools(const Sample& now, const View& view, std::vector<Line>& lines) {
  const Table& table = now.pools;
  Grid grid;
  grid.text_columns = 3;
  grid.head = {"database", "user", "mode", "active", "waiting", "servers", "idle", "maxwait"};
  const auto busier = [&](std::size_t a, std::size_t b) {
    const auto load = [&](std::size_t r) {
      return std::pair(table.count(r, "cl_waiting"), table.count(r, "cl_active"));
    };
    if (view.sort != Sort::Name) return load(a) > load(b);
    return std::pair(table.text(a, "database"), table.text(a, "user")) <
           std::pair(table.text(b, "database"), table.text(b, "user"));
  };
  for (const std::size_t r : order(table.size(), view.reversed, busier)) {
    const std::int64_t maxwait = table.count(r, "maxwait") * 1'000'000 + table.count(r, "maxwait_us");
    grid.rows.push_back({std::string(table.text(r, "database")), std::string(table.text(r, "user")),
                         std::string(table.text(r, "pool_mode")), std::string(table.text(r, "cl_active")),
                         std::string(table.text(r, "cl_waiting")), std::string(table.text(r, "sv_active")),
                         std::string(table.text(r, "sv_idle")), maxwait == 0 ? "-" : short_time(maxwait)});
    grid.warn.push_back(table.count(r, "cl_waiting") > 0);
  }
  draw(grid, view.columns, lines);
}

}  // namespace

std::vector<Line> page(const Sample& now, const std::optional<Sample>& before, const View& view) {
  std::vector<Line> lines;
  const Rates rates(now, before);
  head(now, rates, view, lines);
  if (!view.problem.empty()) lines.push_back({fit(view.problem, view.columns), Style::Warning});
  lines.push_back({});
  classes(now, before, rates, view, lines);
  lines.push_back({});
  replicas(now, view, lines);
  lines.push_back({});
  pools(now, view, lines);
  if (view.rows > 0) {
    // The last row is for the keys.
    if (lines.size() >= view.rows) lines.resize(view.rows - 1);
    while (lines.size() + 1 < view.rows)
      lines.push_back({});
    lines.push_back(
        {fit("q quit  s sort: " + std::string(sort_name(view.sort)) + (view.reversed ? ", reversed" : "") +
                 "  r reverse  space " + (view.frozen ? "go on" : "freeze"),
             view.columns),
         Style::Heading});
  }
  return lines;
}

std::string_view sort_name(Sort sort) {
  switch (sort) {
    case Sort::Name:
      return "name";
    case Sort::Sessions:
      return "sessions";
    case Sort::Lag:
      return "lag";
  }
  return "";
}

Sort next_sort(Sort sort) {
  return sort == Sort::Name ? Sort::Sessions : sort == Sort::Sessions ? Sort::Lag : Sort::Name;
}

std::string short_number(double value) {
  if (value < 9.95) return format("%.1f", value);
  if (value < 9999.5) return format("%.0f", value);
  if (value < 9.995e6) return format("%.1fk", value / 1e3);
  if (value < 9.995e9) return format("%.1fM", value / 1e6);
  return format("%.1fG", value / 1e9);
}

std::string short_time(std::optional<std::int64_t> microseconds) {
  if (!microseconds) return "-";
  const auto us = static_cast<double>(*microseconds);
  if (us < 1000) return format("%.0f us", us);
  if (us < 1e6) return format("%.1f ms", us / 1e3);
  return format("%.1f s", us / 1e6);
}

}  // namespace sluice::top
