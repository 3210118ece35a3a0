#include <algorithm>
#include <cmath>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/utf8.h"
#include "report/page_parts.h"
#include "report/report.h"
#include "web/assets.h"

namespace sluice::report {
namespace {

using Json = nlohmann::ordered_json;

std::string_view entity(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    default:
      return {};
  }
}

std::string escaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0)
      out += "\uFFFD";
    else if (const std::string_view named = entity(text[0]); !named.empty())
      out += named;
    else
      out += text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

// JSON that may stand in a script element: nothing in it can end that or begin a comment.
std::string in_script(const Json& json) {
  std::string out;
  for (const char c : json.dump(-1, ' ', false, Json::error_handler_t::replace))
    if (c == '<')
      out += "\\u003c";
    else
      out += c;
  return out;
}

bool shown(double value, Scale scale) {
  return std::isfinite(value) && (scale == Scale::Linear || value > 0);
}

Json data_of(const Chart& chart) {
  Json out;
  out["x_name"] = chart.x_name;
  out["y_name"] = chart.y_name;
  out["x_log"] = chart.x_scale == Scale::Log;
  out["y_log"] = chart.y_scale == Scale::Log;
  out["points"] = chart.points;
  out["series"] = Json::array();
  for (const Series& s : chart.series) {
    Json& one = out["series"].emplace_back();
    one["name"] = s.name;
    one["x"] = one["y"] = Json::array();
    for (std::size_t i = 0; i < s.x.size() && i < s.y.size(); ++i) {
      if (!shown(s.x[i], chart.x_scale) || !shown(s.y[i], chart.y_scale)) continue;
      one["x"].push_back(s.x[i]);
      one["y"].push_back(s.y[i]);
    }
  }
  return out;
}

void add_chart(std::string& out, const Chart& chart) {
  out += "<figure><figcaption>" + escaped(chart.title) + "</figcaption><script type=\"application/json\">" +
         in_script(data_of(chart)) + "</script><div class=\"missing\"></div></figure>\n";
}

bool is_number(std::string_view cell) {
  return !cell.empty() && std::string_view("+-.0123456789").find(cell[0]) != cell.npos;
}

// It may be wider than the page, and is then moved by the keyboard, too.
void add_table(std::string& out, const std::string& heading,
               const std::vector<std::vector<std::string>>& rows) {
  out += "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"Table: " + escaped(heading) +
         "\"><table>\n";
  for (std::size_t r = 0; r < rows.size(); ++r) {
    out += "<tr>";
    for (const std::string& cell : rows[r]) {
      const char* const tag = r == 0 && !cell.empty() ? "th" : "td";
      out += std::string("<") + tag + (r > 0 && is_number(cell) ? " class=\"number\">" : ">") +
             escaped(cell) + "</" + tag + ">";
    }
    out += "</tr>\n";
  }
  out += "</table></div>\n";
}

}  // namespace

std::string page(const Report& report) {
  std::string out =
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
      "script-src 'unsafe-inline'\">\n<meta name=\"viewport\" content=\"width=device-width\">\n<title>" +
      escaped(report.title) + "</title>\n<style>" + std::string(web::chart_style()) + std::string(kStyle) +
      "</style></head><body><main>\n<h1>" + escaped(report.title) + "</h1>\n<code>" +
      escaped(report.command) + "</code>\n";
  for (const Section& section : report.sections) {
    out += "<h2>" + escaped(section.heading) + "</h2>\n";
    for (const std::string& paragraph : section.paragraphs)
      out += "<p>" + escaped(paragraph) + "</p>\n";
    for (const Chart& chart : section.charts)
      add_chart(out, chart);
    if (!section.table.empty()) add_table(out, section.heading, section.table);
  }
  out += "</main><script>" + std::string(web::chart_script()) + "</script><script>" + std::string(kScript) +
         "</script>\n</body></html>\n";
  return out;
}

}  // namespace sluice::report
