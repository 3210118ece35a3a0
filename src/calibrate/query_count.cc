#include "calibrate/query_count.h"

#include <charconv>
#include <cmath>
#include <cstdio>

#include "calibrate/failure.h"

namespace sluice::calibrate {
namespace {

constexpr std::string_view kMetric = "sluice_queries_total";
constexpr double kFractionMax = 0.1;  // of a query per request that may be somebody else's

asio::awaitable<double> read_count(HttpClient& router_admin) {
  std::string path = "/metrics";
  co_await router_admin.get(std::move(path));
  const auto count = query_count(router_admin.body());
  if (!count)
    throw Failure("the router's /metrics has no " + std::string(kMetric) + "; is that its admin port?");
  co_return *count;
}

}  // namespace

std::optional<double> query_count(std::string_view metrics) {
  std::optional<double> sum;
  while (!metrics.empty()) {
    const std::size_t end = metrics.find('\n');
    std::string_view line = metrics.substr(0, end);
    metrics.remove_prefix(end == metrics.npos ? metrics.size() : end + 1);
    if (!line.starts_with(kMetric)) continue;
    line.remove_prefix(kMetric.size());
    if (line.empty() || (line.front() != '{' && line.front() != ' ')) continue;
    const std::size_t blank = line.rfind(' ');
    double value = 0;
    const auto [stopped, code] = std::from_chars(line.data() + blank + 1, line.data() + line.size(), value);
    if (code == std::errc()) sum = sum.value_or(0) + value;
  }
  return sum;
}

asio::awaitable<double> count_n_serial(HttpClient& application, std::string path, HttpClient& router_admin,
                                       std::size_t requests) {
  co_await application.get(path);  // prepares what is prepared once
  const double before = co_await read_count(router_admin);
  for (std::size_t i = 0; i < requests; ++i)
    co_await application.get(path);
  const double after = co_await read_count(router_admin);
  const double per_request = (after - before) / static_cast<double>(requests);
  const double whole = std::round(per_request);
  if (std::abs(per_request - whole) <= kFractionMax) co_return whole;
  char text[120];
  std::snprintf(text, sizeof text,
                ": %.2f queries per request; somebody else uses the router, or requests differ", per_request);
  throw Failure("N_serial of " + path + text);
}

}  // namespace sluice::calibrate
