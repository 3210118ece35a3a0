#include "router/route_watch.h"

#include <algorithm>
#include <span>
#include <utility>

#include "router/random.h"

namespace sluice::router {
namespace {

using namespace std::chrono_literals;
namespace metric = telemetry::metric;

constexpr auto kReview = 60s;
// How many calls ahead memory is fetched, about as long as it takes to come: a call itself, which another
// processor has written, and what it touches of the table of traces.
constexpr std::size_t kCallsAhead = 16;
constexpr std::size_t kPlacesAhead = 8;

policy::ClassId class_of(const trace::RouteRecord& route) {
  return policy::ClassId(static_cast<std::uint32_t>(route.classes.greatest()));
}

trace::TraceTable::Settings trace_settings(std::chrono::milliseconds idle) {
  trace::TraceTable::Settings settings;
  settings.idle = idle;
  random_bytes(std::as_writable_bytes(std::span(&settings.seed, 1)));
  return settings;
}

}  // namespace

RouteWatch::RouteWatch(telemetry::Registry& registry, telemetry::ThreadMetrics& metrics,
                       std::size_t routes_max, std::chrono::milliseconds idle)
    : registry_(registry),
      metrics_(metrics),
      table_(routes_max),
      traces_(trace_settings(idle + kLateness),
              [this](trace::RouteNumber route, std::uint32_t n_serial) { close(route, n_serial); }) {}

bool RouteWatch::accepts() noexcept {
  if (waiting_.fetch_add(1, std::memory_order_relaxed) < kBatchesMax) return true;
  waiting_.fetch_sub(1, std::memory_order_relaxed);
  return false;
}

void RouteWatch::take(const trace::CallBatch& batch, Clock::time_point now) {
  waiting_.fetch_sub(1, std::memory_order_relaxed);
  std::vector<std::optional<std::uint32_t>> slots;
  slots.reserve(batch.routes.size());
  for (const trace::CallBatch::Route& route : batch.routes)
    slots.push_back(table_.slot_for(route.name, route.calls));
  // Once for all new routes of a batch: a client may bring as many as there are slots.
  if (table_.routes().size() != published_) publish_names();
  const auto& entries = batch.entries;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    __builtin_prefetch(entries.data() + std::min(i + kCallsAhead, entries.size()));
    if (i + kPlacesAhead < entries.size())
      expect(entries[i + kPlacesAhead], slots[entries[i + kPlacesAhead].route]);
    record(entries[i], slots[entries[i].route], now);
  }
}

void RouteWatch::expect(const trace::CallBatch::Entry& entry, std::optional<std::uint32_t> slot) {
  if (slot && entry.call.trace) traces_.expect(entry.call, entry.origin.host, table_.routes()[*slot].number);
}

void RouteWatch::record(const trace::CallBatch::Entry& entry, std::optional<std::uint32_t> slot,
                        Clock::time_point now) {
  const telemetry::HostLabel host(entry.origin.host);
  const telemetry::RouteLabel label = slot ? telemetry::RouteLabel(*slot) : telemetry::RouteLabel::other();
  metrics_.count(metric::route_calls_total, host, label);
  if (entry.call.failed) metrics_.count(metric::route_errors_total, host, label);
  metrics_.record(metric::route_response_seconds, entry.call.response, host, label);
  if (!slot) return;
  table_.count(*slot, entry.call, entry.origin, now);
  if (entry.call.trace) traces_.add(entry.call, entry.origin.host, table_.routes()[*slot].number, now);
}

void RouteWatch::close(trace::RouteNumber route, std::uint32_t n_serial) {
  const std::optional<std::uint32_t> slot = table_.slot_of(route);
  if (!slot || !table_.close(route, n_serial)) return;
  metrics_.count(metric::route_requests_total, telemetry::RouteLabel(*slot));
}

void RouteWatch::tick(Clock::time_point now) {
  traces_.close_idle(now);
  if (now - reviewed_ < kReview) return;
  reviewed_ = now;
  review();
}

void RouteWatch::review() {
  const std::vector<std::uint32_t> changed = table_.review();
  if (changed.empty()) return;
  for (const std::uint32_t slot : changed)
    clear(telemetry::RouteLabel(slot));
  publish_names();
}

void RouteWatch::clear(telemetry::RouteLabel route) {
  metrics_.clear(metric::route_requests_total, route);
  const auto hosts = static_cast<std::uint32_t>(registry_.names()->hosts.size());
  for (std::uint32_t host = 0; host < hosts; ++host) {
    metrics_.clear(metric::route_calls_total, telemetry::HostLabel(host), route);
    metrics_.clear(metric::route_errors_total, telemetry::HostLabel(host), route);
    metrics_.clear(metric::route_response_seconds, telemetry::HostLabel(host), route);
  }
}

void RouteWatch::publish_names() {
  std::vector<std::string> names;
  for (const trace::RouteRecord& route : table_.routes())
    names.push_back(route.name);
  published_ = names.size();
  registry_.set_routes(std::move(names));
  metrics_.fit(registry_.extents());
}

std::vector<profile::Route> RouteWatch::routes(const ClassName& class_name) const {
  std::vector<profile::Route> out;
  for (const trace::RouteRecord& record : table_.routes()) {
    profile::Route route;
    route.name = record.name;
    route.priority_class = class_name(class_of(record));
    route.requests = record.requests();
    route.n_serial_mean = record.n_serial.mean();
    route.n_serial_median = record.n_serial.quantile(0.5);
    route.n_serial_p90 = record.n_serial.quantile(0.9);
    route.untraced_share = record.untraced_share();
    route.last_seen = record.last_seen;
    out.push_back(std::move(route));
  }
  return out;
}

std::vector<admin::RouteRow> RouteWatch::rows(const ClassName& class_name, Clock::time_point now) const {
  const telemetry::Reading reading = registry_.read();
  const auto hosts = static_cast<std::uint32_t>(reading.names().hosts.size());
  std::vector<admin::RouteRow> rows;
  for (std::uint32_t slot = 0; slot < table_.routes().size(); ++slot) {
    const trace::RouteRecord& record = table_.routes()[slot];
    admin::RouteRow row;
    row.name = record.name;
    row.priority_class = class_name(class_of(record));
    row.requests = static_cast<std::int64_t>(record.requests());
    if (record.requests() > 0) {
      row.n_serial_mean = record.n_serial.mean();
      row.n_serial_median = record.n_serial.quantile(0.5);
      row.n_serial_p90 = record.n_serial.quantile(0.9);
    }
    row.untraced_share = record.untraced_share();
    row.usable = record.usable();
    row.calls = static_cast<std::int64_t>(record.calls);
    row.errors = static_cast<std::int64_t>(record.errors);
    telemetry::HistogramReading response;
    std::int64_t most = 0;
    for (std::uint32_t host = 0; host < hosts; ++host) {
      const std::int64_t calls =
          reading.value(metric::route_calls_total, telemetry::HostLabel(host), telemetry::RouteLabel(slot));
      if (calls > most) row.host = reading.names().hosts[host];
      most = std::max(most, calls);
      response += reading.histogram(metric::route_response_seconds, telemetry::HostLabel(host),
                                    telemetry::RouteLabel(slot));
    }
    const auto quantile = [&](double q) -> std::optional<admin::Micros> {
      const auto value = response.quantile(q);
      return value ? std::optional(std::chrono::duration_cast<admin::Micros>(*value)) : std::nullopt;
    };
    row.response_median = quantile(0.5);
    row.response_p95 = quantile(0.95);
    row.age = std::chrono::duration_cast<std::chrono::milliseconds>(now - record.last_seen);
    rows.push_back(std::move(row));
  }
  return rows;
}

void RouteWatch::sample(telemetry::Samples& samples) const {
  using telemetry::SerialStatistic;
  samples.set(metric::traces_open, static_cast<double>(traces_.open()));
  for (std::uint32_t slot = 0; slot < published_; ++slot) {
    const trace::RouteRecord& record = table_.routes()[slot];
    const telemetry::RouteLabel label(slot);
    samples.set(metric::route_untraced_ratio, record.untraced_share(), label);
    if (record.requests() == 0) continue;
    samples.set(metric::route_serial_calls, record.n_serial.mean(), label, SerialStatistic::Mean);
    samples.set(metric::route_serial_calls, record.n_serial.quantile(0.5), label, SerialStatistic::Median);
    samples.set(metric::route_serial_calls, record.n_serial.quantile(0.9), label, SerialStatistic::P90);
  }
}

}  // namespace sluice::router
