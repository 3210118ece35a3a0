#include "telemetry/reference.h"

#include "telemetry/metrics.h"

namespace sluice::telemetry {
namespace {

std::string_view kind_name(Kind kind) {
  switch (kind) {
    case Kind::Counter:
    case Kind::TimeCounter:
      return "counter";
    case Kind::Gauge:
    case Kind::Sampled:
      return "gauge";
    case Kind::Histogram:
      return "histogram";
  }
  return "";
}

std::string_view source_of(Dimension dimension) {
  switch (dimension) {
    case Dimension::Fixed:
      return "";
    case Dimension::Class:
      return "names of the configured priority classes";
    case Dimension::Pool:
      return "`mixed`, `primary`, or the name of the class whose pool it is";
    case Dimension::Server:
      return "names of the configured replicas, and that of the primary";
    case Dimension::Host:
      return "names of the configured compute hosts";
    case Dimension::Route:
      return "routes that queries name in their comments, at most `route_labels_max`; `other` for the rest";
    case Dimension::Database:
      return "names of the configured databases, `*` for all others";
    case Dimension::Budget:
      return "names of the configured budgets";
    case Dimension::Version:
      return "version of this program";
  }
  return "";
}

std::string labels_of(const MetricInfo& metric) {
  std::string text;
  for (const LabelInfo& label : metric.labels) {
    if (!text.empty()) text += ", ";
    text += "`" + std::string(label.name) + "`";
  }
  return text;
}

// Values differ between metrics even where the name of the label is the same ("reason").
void append_values(std::string& out) {
  std::string seen;
  for (const MetricInfo& metric : metric_table()) {
    for (const LabelInfo& label : metric.labels) {
      std::string row = "| `" + std::string(label.name) + "` | ";
      if (label.dimension == Dimension::Fixed) {
        row += "`sluice_" + std::string(metric.name) + "` | ";
        for (std::size_t i = 0; i < label.count; ++i)
          row += (i > 0 ? ", `" : "`") + std::string(label.value(i)) + "`";
      } else {
        row += "all | " + std::string(source_of(label.dimension));
      }
      row += " |\n";
      if (seen.find(row) != std::string::npos) continue;
      seen += row;
    }
  }
  out += seen;
}

std::string seconds_text(std::uint64_t ns) {
  std::string digits = std::to_string(ns / 1'000'000'000);
  std::string fraction = std::to_string(1'000'000'000 + ns % 1'000'000'000).substr(1);
  while (!fraction.empty() && fraction.back() == '0')
    fraction.pop_back();
  return fraction.empty() ? digits : digits + "." + fraction;
}

void append_table(std::string& out, std::string_view title, Component component) {
  out += "\n## " + std::string(title) +
         "\n\n| metric | kind | unit | labels | meaning |\n| --- | --- | --- | --- | --- |\n";
  for (const MetricInfo& metric : metric_table()) {
    if (metric.component != component) continue;
    out += "| `sluice_" + std::string(metric.name) + "` | " + std::string(kind_name(metric.kind)) + " | " +
           std::string(metric.unit) + " | " + labels_of(metric) + " | " + std::string(metric.help) + " |\n";
  }
}

}  // namespace

std::string metrics_reference() {
  std::string out =
      "# Metrics\n\n"
      "Served by the HTTP admin port under `/metrics` in Prometheus's text format.\n"
      "This page is written from the tables in `src/telemetry`; a test fails when they differ\n"
      "(`SLUICE_REGENERATE=1` in its environment rewrites the page).\n";
  append_table(out, "Of router and placer", Component::Both);
  append_table(out, "Of the router", Component::Router);
  append_table(out, "Of the placer", Component::Placer);
  out += "\nSeries with two labels, and histograms, appear once they have counted something.\n";
  out += "Label values come from the configuration, routes excepted; the number of each is bounded.\n\n";
  out += "## Label values\n\n| label | of | values |\n| --- | --- | --- |\n";
  append_values(out);
  out += "\n## Buckets of histograms\n\nUpper bounds in seconds: ";
  for (const std::uint64_t bound : kBoundsNs)
    out += seconds_text(bound) + ", ";
  out += "+Inf.\n";
  return out;
}

}  // namespace sluice::telemetry
