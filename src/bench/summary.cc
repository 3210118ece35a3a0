#include "bench/summary.h"

#include <algorithm>

#include "sluice/stats/comparison.h"
#include "sluice/stats/quantile.h"

namespace sluice::bench {
namespace {

void fill(ResponseSummary& summary, std::vector<double> values) {
  summary.queries = values.size();
  if (values.empty()) return;
  std::sort(values.begin(), values.end());
  summary.mean = stats::mean(values);
  summary.median = stats::quantile_sorted(values, 0.5);
  summary.p95 = stats::quantile_sorted(values, 0.95);
  summary.p99 = stats::quantile_sorted(values, 0.99);
}

}  // namespace

void Summarizer::add(const QueryRecord& record) {
  if (record.late > kLate) ++sums_.late.queries;
  sums_.late.worst = std::max(sums_.late.worst, record.late);
  if (record.phase != Phase::Measured) return;
  if (record.error.empty())
    responses_[record.class_index].push_back(record.response);
  else
    ++sums_.classes[record.class_index].errors;
}

void Summarizer::add(const SessionRecord& record) {
  if (record.late > kLate) ++sums_.late.sessions;
  sums_.late.worst = std::max(sums_.late.worst, record.late);
  ++sums_.sessions[record.class_index];
  if (!record.error.empty())
    ++sums_.sessions_failed[record.class_index];
  else
    waiting_sum_[record.class_index] += record.waiting;
}

Summary Summarizer::summary() const {
  Summary out = sums_;
  std::vector<double> all;
  for (std::size_t c = 0; c < kClassCount; ++c) {
    fill(out.classes[c], responses_[c]);
    out.all.errors += out.classes[c].errors;
    all.insert(all.end(), responses_[c].begin(), responses_[c].end());
    const std::size_t began = out.sessions[c] - std::min(out.sessions[c], out.sessions_failed[c]);
    if (began > 0) out.session_waiting_mean[c] = waiting_sum_[c] / static_cast<double>(began);
  }
  fill(out.all, std::move(all));
  return out;
}

}  // namespace sluice::bench
