#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

// Response times of the last seconds, out of histograms that only grow. Pure.
namespace sluice::demo {

// Cumulative counts by upper bound in seconds, summed over the pools; the last bound is infinity.
using Histogram = std::map<double, std::int64_t>;
using ClassHistograms = std::map<std::string, Histogram>;

// The rows of sluice_response_seconds in a page of /metrics, by class. Rows that are not understood are
// skipped.
ClassHistograms read_response_histograms(std::string_view metrics);

// Quantile q in [0, 1] of the samples between two readings, interpolated within its bucket as Prometheus
// does; seconds. Empty without a sample. What lies above the last finite bound counts as that bound.
std::optional<double> quantile_between(const Histogram& before, const Histogram& now, double q);
std::int64_t count_between(const Histogram& before, const Histogram& now);

struct ResponseTimes {
  std::optional<double> median_seconds, p95_seconds;
  double queries_per_second = 0;
};

// Keeps the readings of one window.
class ResponseWindow {
 public:
  explicit ResponseWindow(std::chrono::milliseconds length) : length_(length) {}
  void add(std::chrono::milliseconds time, ClassHistograms reading);
  ResponseTimes of(const std::string& class_name) const;           // over the window
  ResponseTimes since_start(const std::string& class_name) const;  // over all

 private:
  ResponseTimes between(const std::pair<std::chrono::milliseconds, ClassHistograms>& before,
                        const std::string& class_name) const;

  std::chrono::milliseconds length_;
  std::optional<std::pair<std::chrono::milliseconds, ClassHistograms>> first_;
  std::deque<std::pair<std::chrono::milliseconds, ClassHistograms>> readings_;  // oldest first
};

}  // namespace sluice::demo
