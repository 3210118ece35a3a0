#include "sim/demand.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "sluice/stats/portable_math.h"

namespace sluice::sim {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A query on the line of time of its replica.
struct Span {
  double from = 0, to = 0;
  std::size_t guest = 0, query = 0;
};

std::vector<std::vector<Span>> spans_by_replica(const RecordedTrace& trace) {
  std::vector<std::vector<Span>> spans(trace.config.replicas.size());
  for (std::size_t g = 0; g < trace.guests.size(); ++g) {
    const RecordedGuest& guest = trace.guests[g];
    if (!guest.replica) continue;
    double now = guest.at + guest.waited;
    for (std::size_t q = 0; q < guest.queries.size(); ++q) {
      const double from = now + guest.queries[q].pause;
      now = from + guest.queries[q].response;
      spans[*guest.replica].push_back({from, now, g, q});
    }
  }
  return spans;
}

struct Edge {
  double at = 0;
  std::size_t span = 0;
  // At one moment: ends, then what begins, then the ends of what had no length.
  enum class Kind : std::uint8_t { End, Begin, EmptyEnd } kind = Kind::Begin;
};

std::vector<Edge> edges_of(const std::vector<Span>& spans) {
  std::vector<Edge> edges;
  edges.reserve(2 * spans.size());
  for (std::size_t i = 0; i < spans.size(); ++i) {
    edges.push_back({spans[i].from, i, Edge::Kind::Begin});
    edges.push_back({spans[i].to, i, spans[i].to > spans[i].from ? Edge::Kind::End : Edge::Kind::EmptyEnd});
  }
  std::stable_sort(edges.begin(), edges.end(),
                   [](const Edge& a, const Edge& b) { return a.at != b.at ? a.at < b.at : a.kind < b.kind; });
  return edges;
}

// Calls visit(span, service gained, queries active when it began with itself) for each span of a replica.
template <class Visit>
void sweep(const std::vector<Span>& spans, double cores, Visit visit) {
  struct Began {
    double attained = 0, company = 0;
  };
  std::vector<Began> began(spans.size());
  double now = 0, attained = 0;
  double active = 0;
  for (const Edge& edge : edges_of(spans)) {
    if (active > 0) attained += (edge.at - now) * std::min(1.0, cores / active);
    now = edge.at;
    if (edge.kind == Edge::Kind::Begin) {
      ++active;
      began[edge.span] = {attained, active};
    } else {
      --active;
      visit(spans[edge.span], attained - began[edge.span].attained, began[edge.span].company);
    }
  }
}

// Pearson's, of values that come one by one.
class Correlation {
 public:
  void add(double x, double y) noexcept {
    ++n_;
    const double dx = x - mean_x_, dy = y - mean_y_;
    mean_x_ += dx / n_;
    mean_y_ += dy / n_;
    xx_ += dx * (x - mean_x_);
    yy_ += dy * (y - mean_y_);
    xy_ += dx * (y - mean_y_);
  }
  double value() const noexcept { return xx_ > 0 && yy_ > 0 ? xy_ / std::sqrt(xx_ * yy_) : 0; }
  double deviation_x() const noexcept { return n_ > 1 ? std::sqrt(xx_ / (n_ - 1)) : 0; }
  double count() const noexcept { return n_; }

 private:
  double n_ = 0, mean_x_ = 0, mean_y_ = 0, xx_ = 0, yy_ = 0, xy_ = 0;
};

}  // namespace

Demands demands(const RecordedTrace& trace, double cores) {
  Demands out;
  out.cores = cores;
  out.of.reserve(trace.guests.size());
  for (const RecordedGuest& guest : trace.guests) {
    auto& row = out.of.emplace_back();
    for (const RecordedQuery& q : guest.queries)
      row.push_back(std::max(kDemandMin, q.response));
  }
  if (cores == kInfinity) return out;
  for (const auto& spans : spans_by_replica(trace))
    sweep(spans, cores, [&](const Span& span, double gained, double) {
      out.of[span.guest][span.query] = std::max(kDemandMin, gained);
    });
  return out;
}

double estimate_cores(const RecordedTrace& trace) {
  constexpr double kDeviationMin = 0.1;  // of ln(company): below, all have the same
  constexpr double kQueriesMin = 100;
  constexpr double kErrors = 4;  // standard errors of a correlation that there is none
  constexpr double kLeast = 0.5, kMost = 256;
  constexpr int kHalvings = 16;
  const auto spans = spans_by_replica(trace);
  const auto correlation_with = [&](double cores) {
    Correlation correlation;
    for (const auto& of_replica : spans)
      sweep(of_replica, cores, [&](const Span&, double gained, double company) {
        if (gained > 0) correlation.add(stats::portable::log(company), stats::portable::log(gained));
      });
    return correlation;
  };
  // Company as a query finds it: what it meets later depends on how long it stays, and so on its own demand.
  // The fewer the cores, the less of a response is demand where company was large, and the lower the
  // correlation.
  const Correlation plain = correlation_with(kInfinity);
  if (plain.count() < kQueriesMin || plain.deviation_x() < kDeviationMin) return kInfinity;
  if (plain.value() < kErrors / std::sqrt(plain.count())) return kInfinity;
  double low = stats::portable::log(kLeast), high = stats::portable::log(kMost);
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (correlation_with(stats::portable::exp(middle)).value() > 0 ? high : low) = middle;
  }
  return stats::portable::exp((low + high) / 2);
}

}  // namespace sluice::sim
