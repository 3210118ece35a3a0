#include "demo/response_times.h"

#include <charconv>
#include <cmath>
#include <limits>

namespace sluice::demo {
namespace {

// The value of label `name` in `class="premium",le="0.5"`; empty when it is not there.
std::string_view label(std::string_view labels, std::string_view name) {
  const std::string key = std::string(name) + "=\"";
  std::size_t at = labels.find(key);
  while (at != std::string_view::npos && at != 0 && labels[at - 1] != ',')
    at = labels.find(key, at + 1);
  if (at == std::string_view::npos) return {};
  at += key.size();
  return labels.substr(at, labels.find('"', at) - at);
}

std::optional<double> number(std::string_view text) {
  if (text == "+Inf") return std::numeric_limits<double>::infinity();
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return value;
}

std::int64_t at_bound(const Histogram& histogram, double bound) {
  const auto found = histogram.find(bound);
  return found == histogram.end() ? 0 : found->second;
}

const Histogram& histogram_of(const ClassHistograms& reading, const std::string& class_name) {
  static const Histogram kNone;
  const auto found = reading.find(class_name);
  return found == reading.end() ? kNone : found->second;
}

}  // namespace

ClassHistograms read_response_histograms(std::string_view metrics) {
  constexpr std::string_view kName = "sluice_response_seconds_bucket{";
  ClassHistograms result;
  while (!metrics.empty()) {
    const std::string_view line = metrics.substr(0, metrics.find('\n'));
    metrics.remove_prefix(std::min(metrics.size(), line.size() + 1));
    if (line.substr(0, kName.size()) != kName) continue;
    const std::size_t end = line.rfind("} ");
    if (end == std::string_view::npos || end < kName.size()) continue;
    const std::string_view labels = line.substr(kName.size(), end - kName.size());
    const auto bound = number(label(labels, "le"));
    const auto count = number(line.substr(end + 2));
    if (!bound || !count || !std::isfinite(*count)) continue;
    result[std::string(label(labels, "class"))][*bound] += static_cast<std::int64_t>(*count);
  }
  return result;
}

std::int64_t count_between(const Histogram& before, const Histogram& now) {
  if (now.empty()) return 0;
  const auto& [bound, count] = *now.rbegin();
  return count - at_bound(before, bound);
}

std::optional<double> quantile_between(const Histogram& before, const Histogram& now, double q) {
  const std::int64_t total = count_between(before, now);
  if (total <= 0) return std::nullopt;
  const double rank = q * static_cast<double>(total);
  double lower_bound = 0;
  std::int64_t lower_count = 0;
  for (const auto& [bound, cumulative] : now) {
    const std::int64_t count = cumulative - at_bound(before, bound);
    if (count > 0 && static_cast<double>(count) >= rank) {
      if (!std::isfinite(bound) || count == lower_count) return lower_bound;
      return lower_bound + (bound - lower_bound) * (rank - static_cast<double>(lower_count)) /
                               static_cast<double>(count - lower_count);
    }
    lower_bound = bound;
    lower_count = count;
  }
  return lower_bound;
}

void ResponseWindow::add(std::chrono::milliseconds time, ClassHistograms reading) {
  if (!first_) first_.emplace(time, reading);
  readings_.emplace_back(time, std::move(reading));
  while (readings_.size() > 2 && readings_[1].first + length_ <= time)
    readings_.pop_front();
}

ResponseTimes ResponseWindow::between(const std::pair<std::chrono::milliseconds, ClassHistograms>& before,
                                      const std::string& class_name) const {
  const Histogram& from = histogram_of(before.second, class_name);
  const Histogram& to = histogram_of(readings_.back().second, class_name);
  const double seconds = std::chrono::duration<double>(readings_.back().first - before.first).count();
  return {quantile_between(from, to, 0.5), quantile_between(from, to, 0.95),
          seconds > 0 ? static_cast<double>(count_between(from, to)) / seconds : 0};
}

ResponseTimes ResponseWindow::of(const std::string& class_name) const {
  return readings_.empty() ? ResponseTimes{} : between(readings_.front(), class_name);
}

ResponseTimes ResponseWindow::since_start(const std::string& class_name) const {
  return readings_.empty() ? ResponseTimes{} : between(*first_, class_name);
}

}  // namespace sluice::demo
