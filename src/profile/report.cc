#include "profile/report.h"

#include <algorithm>
#include <cstdio>
#include <vector>

namespace sluice::profile {
namespace {

using Row = std::vector<std::string>;

std::string shown(const std::string& name) {
  std::string out = name.empty() ? "-" : name;
  for (char& c : out)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return out;
}

// Characters, as far as UTF-8 says: bytes that begin one.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

// The first row is the heading. The first column is set to the left, the others to the right.
std::string table(const std::vector<Row>& rows) {
  std::vector<std::size_t> widths;
  for (const Row& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (widths.size() <= i) widths.push_back(0);
      widths[i] = std::max(widths[i], width_of(row[i]));
    }
  std::string out;
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string blanks(widths[i] - width_of(row[i]), ' ');
      line += i == 0 ? row[i] + blanks : "  " + blanks + row[i];
    }
    out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return out;
}

std::string number(double value, const char* format) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string ms(Nanos d) {
  return number(static_cast<double>(d.count()) / 1e6, "%.3f");
}

std::string ms_if(bool known, Nanos d) {
  return known ? ms(d) : "-";
}

// "0.4 s", "12 s", "5 min", "3 h", "2 d".
std::string age(Moment then, Moment now) {
  if (then == Moment{}) return "never";
  const double seconds = std::max(0.0, std::chrono::duration<double>(now - then).count());
  if (seconds < 10) return number(seconds, "%.1f s");
  if (seconds < 120) return number(seconds, "%.0f s");
  if (seconds < 2 * 3600) return number(seconds / 60, "%.0f min");
  if (seconds < 48 * 3600) return number(seconds / 3600, "%.0f h");
  return number(seconds / 86400, "%.0f d");
}

std::string writer_text(const Publication& p, Moment now) {
  std::string text = "writer: process " + std::to_string(p.writer_pid) + ", ";
  text += writer_state_name(writer_state(p, now));
  text += ", last heartbeat " + age(p.heartbeat, now) + " ago, one each " +
          number(std::chrono::duration<double>(p.interval).count(), "%g s") + "\n";
  text += "generation " + std::to_string(p.generation) + ", publication " + std::to_string(p.publications) +
          ", contents " + age(p.contents_at, now) + " old\n";
  return text;
}

std::string hosts_text(const Contents& c, Moment now) {
  std::vector<Row> rows = {{"HOST", "CLIENT LEG ms", "LEAST", "DEVIATION", "SAMPLES", "AGE", "SESSIONS",
                            "PATH ms", "CONNECT ms", "CALIBRATED"}};
  for (const Host& h : c.hosts) {
    const bool measured = h.samples > 0, calibrated = h.path_samples > 0;
    rows.push_back({shown(h.name), ms_if(measured, h.client_leg), ms_if(measured, h.client_leg_min),
                    ms_if(measured, h.client_leg_deviation), std::to_string(h.samples),
                    age(h.measured_at, now), std::to_string(h.sessions), ms_if(calibrated, h.path),
                    ms_if(calibrated, h.connect), calibrated ? age(h.calibrated_at, now) : "never"});
  }
  return table(rows);
}

std::string servers_text(const Contents& c, Moment now) {
  std::vector<Row> rows = {{"SERVER", "ROLE", "STATE", "MEDIAN ms", "LEAST", "EWMA", "SAMPLES", "AGE"}};
  for (const Server& s : c.servers) {
    const bool measured = s.samples > 0;
    rows.push_back({shown(s.name), s.role == ServerRole::Primary ? "primary" : "replica",
                    s.up ? "up" : "down", ms_if(measured, s.median), ms_if(measured, s.minimum),
                    ms_if(measured, s.ewma), std::to_string(s.samples), age(s.measured_at, now)});
  }
  return table(rows);
}

std::string matrix_text(const Contents& c, Moment now) {
  std::vector<Row> rows = {{"RTT ms"}};
  for (const Server& s : c.servers)
    rows[0].push_back(shown(s.name));
  rows[0].push_back("OLDEST");
  for (std::size_t h = 0; h < c.hosts.size(); ++h) {
    Row row = {shown(c.hosts[h].name)};
    Moment oldest = Moment::max();
    for (std::size_t s = 0; s < c.servers.size(); ++s) {
      const Rtt& rtt = c.rtt[h * c.servers.size() + s];
      const bool known = rtt.source != Rtt::Source::None;
      row.push_back(ms_if(known, rtt.estimate) + (rtt.source == Rtt::Source::Calibrated ? "*" : ""));
      if (known) oldest = std::min(oldest, rtt.measured_at);
    }
    row.push_back(oldest == Moment::max() ? "never" : age(oldest, now));
    rows.push_back(std::move(row));
  }
  const bool any = std::any_of(c.rtt.begin(), c.rtt.end(),
                               [](const Rtt& r) { return r.source == Rtt::Source::Calibrated; });
  return table(rows) + (any ? "* from the calibration\n" : "");
}

std::string shares_text(const Contents& c) {
  std::vector<Row> rows = {{"SHARE OF CLASS"}};
  for (const Server& s : c.servers)
    rows[0].push_back(shown(s.name));
  for (std::size_t i = 0; i < c.classes.size(); ++i) {
    Row& row = rows.emplace_back(Row{shown(c.classes[i])});
    for (std::size_t s = 0; s < c.servers.size(); ++s)
      row.push_back(number(100 * c.shares[i * c.servers.size() + s], "%.0f%%"));
  }
  return table(rows);
}

std::string routes_text(const Contents& c, Moment now) {
  std::vector<Row> rows = {
      {"ROUTE", "CLASS", "REQUESTS", "N_SERIAL", "MEAN", "P90", "CALIBRATED", "UNTRACED", "LAST SEEN"}};
  for (const Route& r : c.routes)
    rows.push_back({shown(r.name), shown(r.priority_class), std::to_string(r.requests),
                    number(r.n_serial_median, "%.1f"), number(r.n_serial_mean, "%.2f"),
                    number(r.n_serial_p90, "%.1f"),
                    r.n_serial_calibrated < 0 ? "-" : number(r.n_serial_calibrated, "%.1f"),
                    number(100 * r.untraced_share, "%.0f%%"), age(r.last_seen, now)});
  return table(rows);
}

std::string residuals_text(const Contents& c, Moment now) {
  std::vector<Row> rows = {{"RESIDUAL ms"}};
  for (const Host& h : c.hosts)
    rows[0].push_back(shown(h.name));
  rows[0].push_back("OLDEST");
  for (std::size_t r = 0; r < c.routes.size(); ++r) {
    Row row = {shown(c.routes[r].name)};
    Moment oldest = Moment::max();
    for (std::size_t h = 0; h < c.hosts.size(); ++h) {
      const Residual& residual = c.residuals[h * c.routes.size() + r];
      row.push_back(ms_if(residual.samples > 0, residual.residual));
      if (residual.samples > 0) oldest = std::min(oldest, residual.measured_at);
    }
    if (oldest == Moment::max()) continue;
    row.push_back(age(oldest, now));
    rows.push_back(std::move(row));
  }
  return rows.size() > 1 ? "\n" + table(rows) : "";
}

}  // namespace

std::string report(const Profile& profile, Moment now) {
  const Contents& c = profile.contents;
  std::string text = writer_text(profile.publication, now);
  text += "\n" + hosts_text(c, now);
  text += "\n" + servers_text(c, now);
  text += "\n" + matrix_text(c, now);
  if (!c.classes.empty()) text += "\n" + shares_text(c);
  if (!c.routes.empty()) text += "\n" + routes_text(c, now);
  return text + residuals_text(c, now);
}

}  // namespace sluice::profile
