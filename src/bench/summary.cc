#include "bench/summary.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sluice/stats/comparison.h"
#include "sluice/stats/quantile.h"

namespace sluice::bench {
namespace {

// Statistics of samples in which some are lower bounds. One that interpolates between order statistics is
// exact as long as each bound is above those: wherever the true values are, they stay above.
class Statistics {
 public:
  explicit Statistics(const Samples& samples) : sorted_(samples.values) {
    std::sort(sorted_.begin(), sorted_.end());
    if (!samples.bounds.empty())
      least_bound_ = *std::min_element(samples.bounds.begin(), samples.bounds.end());
  }

  Time mean() const { return {stats::mean(sorted_), std::isfinite(least_bound_)}; }
  Time quantile(double q) const {
    if (sorted_.empty()) return {};
    const double place = std::ceil(q * static_cast<double>(sorted_.size() - 1));
    return {stats::quantile_sorted(sorted_, q), least_bound_ <= sorted_[static_cast<std::size_t>(place)]};
  }

 private:
  std::vector<double> sorted_;
  double least_bound_ = std::numeric_limits<double>::infinity();
};

void fill(ResponseSummary& summary, const Samples& samples) {
  const Statistics statistics(samples);
  summary.queries = samples.values.size() - samples.bounds.size();
  summary.mean = statistics.mean();
  summary.median = statistics.quantile(0.5);
  summary.p95 = statistics.quantile(0.95);
  summary.p99 = statistics.quantile(0.99);
}

void fill(WaitingSummary& summary, const Samples& samples) {
  const Statistics statistics(samples);
  summary.sessions = samples.values.size() - samples.bounds.size();
  summary.mean = statistics.mean();
  summary.median = statistics.quantile(0.5);
  summary.p95 = statistics.quantile(0.95);
}

}  // namespace

void Losses::add(Fate fate) noexcept {
  switch (fate) {
    case Fate::Served:
      break;
    case Fate::TimedOut:
      ++timed_out;
      break;
    case Fate::Cut:
      ++cut;
      break;
    case Fate::Refused:
      ++refused;
      break;
    case Fate::Failed:
      ++failed;
      break;
  }
}

double Losses::share(std::size_t served) const noexcept {
  const std::size_t all = served + total();
  return all == 0 ? 0 : static_cast<double>(total()) / static_cast<double>(all);
}

Losses& Losses::operator+=(const Losses& other) noexcept {
  timed_out += other.timed_out;
  cut += other.cut;
  refused += other.refused;
  failed += other.failed;
  return *this;
}

LateSummary& LateSummary::operator+=(const LateSummary& other) noexcept {
  sessions += other.sessions;
  queries += other.queries;
  worst = std::max(worst, other.worst);
  return *this;
}

double ResponseSummary::lost_share() const noexcept {
  return lost.share(queries);
}

void Samples::add(double seconds, Fate fate) {
  if (fate != Fate::Served && !given_up(fate)) return;
  values.push_back(seconds);
  if (given_up(fate)) bounds.push_back(seconds);
}

void Samples::add(const Samples& other) {
  values.insert(values.end(), other.values.begin(), other.values.end());
  bounds.insert(bounds.end(), other.bounds.begin(), other.bounds.end());
}

void Summarizer::add(const QueryRecord& record) {
  if (record.late > kLate) ++sums_.late.queries;
  sums_.late.worst = std::max(sums_.late.worst, record.late);
  if (record.phase != Phase::Measured) return;
  const Fate fate = fate_of(record.error);
  responses_[record.class_index].add(record.response, fate);
  sums_.classes[record.class_index].lost.add(fate);
}

void Summarizer::add(const SessionRecord& record) {
  if (record.late > kLate) ++sums_.late.sessions;
  sums_.late.worst = std::max(sums_.late.worst, record.late);
  ++sums_.sessions[record.class_index];
  if (!record.error.empty()) ++sums_.sessions_failed[record.class_index];
  if (record.phase != Phase::Measured) return;
  const Fate fate = record.served ? Fate::Served : fate_of(record.error);
  waiting_[record.class_index].add(record.waiting, fate);
  sums_.waiting[record.class_index].lost.add(fate);
}

Summary Summarizer::summary() const {
  Summary out = sums_;
  Samples all;
  for (std::size_t c = 0; c < kClassCount; ++c) {
    fill(out.classes[c], responses_[c]);
    fill(out.waiting[c], waiting_[c]);
    out.all.lost += out.classes[c].lost;
    all.add(responses_[c]);
  }
  fill(out.all, all);
  return out;
}

}  // namespace sluice::bench
