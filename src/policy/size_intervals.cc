#include "sluice/policy/size_intervals.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "sluice/stats/sita.h"

#include "base/assert.h"

namespace sluice::policy {
namespace {

constexpr int kParts = 4;                       // of a power of two
constexpr int kFirstExponent = -40;             // of the smallest size
constexpr double kGrowth = 1.0003385080526823;  // 2^(1 / kHalfLife)
constexpr double kBusyWeight = 1.0 / 512;
// A host that a step reaches into by less than this share of what the host should have is not the step's.
constexpr double kReach = 0.1;
// For the search: what is seen of a system that is nearly idle, or full, tells little.
constexpr double kUtilizationMin = 0.05, kUtilizationMax = 0.95;
constexpr std::size_t kGrid = 96;

double overlap(double a_begin, double a_end, double b_begin, double b_end) noexcept {
  return std::max(0.0, std::min(a_end, b_end) - std::max(a_begin, b_begin));
}

double begin_of(const std::vector<double>& bounds, std::size_t host) noexcept {
  return host == 0 ? 0 : bounds[host - 1];
}
double end_of(const std::vector<double>& bounds, std::size_t host) noexcept {
  return host == bounds.size() ? 1 : bounds[host];
}

std::size_t host_at(const std::vector<double>& bounds, double share) noexcept {
  return static_cast<std::size_t>(std::upper_bound(bounds.begin(), bounds.end(), share) - bounds.begin());
}

// The hosts of a step that has the work between the two shares.
SizeIntervals::Range hosts_of(const std::vector<double>& bounds, double begin, double end) noexcept {
  std::size_t first = host_at(bounds, begin);
  std::size_t last = std::max(first, host_at(bounds, std::nextafter(end, 0.0)));
  const auto reach = [&](std::size_t host) {
    return overlap(begin, end, begin_of(bounds, host), end_of(bounds, host));
  };
  std::size_t most = first;
  for (std::size_t host = first; host <= last; ++host)
    if (reach(host) > reach(most)) most = host;
  const auto belongs = [&](std::size_t host) {
    return host == most || reach(host) > kReach * (end_of(bounds, host) - begin_of(bounds, host));
  };
  while (first < most && !belongs(first))
    ++first;
  while (last > most && !belongs(last))
    --last;
  return {static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(last)};
}

double work_of(const SizeIntervals::Buckets& law) noexcept {
  double all = 0;
  for (const SizeIntervals::Bucket& bucket : law)
    all += bucket.work;
  return all;
}

std::vector<double> equal_load(std::span<const std::int64_t> weights) {
  std::vector<double> bounds;
  const auto all = static_cast<double>(std::accumulate(weights.begin(), weights.end(), std::int64_t{0}));
  double below = 0;
  for (const std::int64_t weight : weights.first(weights.size() - 1))
    bounds.push_back((below += static_cast<double>(weight)) / all);
  return bounds;
}

// Over the steps' means, a step with much of the work as several sizes, so that a bound may lie within it.
std::optional<std::vector<double>> least_slowdown(const SizeIntervals::Question& question) {
  const std::size_t hosts = question.weights.size();
  const double all = work_of(question.law);
  const auto count = static_cast<double>(hosts);
  std::vector<stats::Empirical::Atom> atoms;
  double weight = 0;
  for (const SizeIntervals::Bucket& bucket : question.law) {
    if (!(bucket.weight > 0)) continue;
    weight += bucket.weight;
    const auto pieces = static_cast<int>(std::clamp(std::ceil(bucket.work / all * 4 * count), 1.0, 16.0));
    const double mean = bucket.work / bucket.weight;
    for (int i = 0; i < pieces; ++i) {
      const double off = (i - (pieces - 1) / 2.0) / pieces;
      atoms.push_back({mean * (1 + off / kParts), bucket.weight / pieces});
    }
  }
  std::sort(atoms.begin(), atoms.end(), [](const auto& a, const auto& b) { return a.value < b.value; });
  const double utilization = std::clamp(question.busy, kUtilizationMin, kUtilizationMax);
  stats::SitaSearch search;
  search.grid = kGrid;
  const auto cutoffs =
      stats::sita_cutoffs(stats::Empirical(atoms), utilization * count / (all / weight), hosts, search);
  if (!cutoffs) return std::nullopt;
  std::vector<double> bounds;
  double below = 0;
  auto atom = atoms.begin();
  for (const double cutoff : *cutoffs) {
    for (; atom != atoms.end() && atom->value <= cutoff; ++atom)
      below += atom->value * atom->weight;
    bounds.push_back(std::min(1.0, below / all));
  }
  return bounds;
}

// The sizes below which these shares of all work lie; within a step sizes count as evenly spread. Ascending.
std::vector<double> sizes_at(const SizeIntervals::Buckets& law, const std::vector<double>& shares) {
  const double all = work_of(law);
  std::vector<double> sizes;
  double below = 0;
  std::size_t step = 0;
  for (const double share : shares) {
    while (step + 1 < kSizeSteps && below + law[step].work < share * all)
      below += law[step++].work;
    const double work = law[step].work;
    const double part = work > 0 ? std::clamp((share * all - below) / work, 0.0, 1.0) : 0;
    const double begin = size_step_begin(step);
    sizes.push_back(begin + part * (size_step_begin(step + 1) - begin));
  }
  return sizes;
}

}  // namespace

SizeStep size_step(std::optional<double> seconds) noexcept {
  if (!seconds || !(*seconds > 0) || !std::isfinite(*seconds)) return kNoSizeStep;
  int exponent = 0;
  const double mantissa = std::frexp(*seconds, &exponent);  // in [1/2, 1)
  const int part = static_cast<int>((mantissa - 0.5) * (2 * kParts));
  const int step = (exponent - 1 - kFirstExponent) * kParts + part;
  return static_cast<SizeStep>(std::clamp(step, 0, static_cast<int>(kSizeSteps) - 1));
}

double size_step_begin(std::size_t step) noexcept {
  const double part = 0.5 + static_cast<double>(step % kParts) / (2 * kParts);
  return std::ldexp(part, static_cast<int>(step / kParts) + 1 + kFirstExponent);
}

void SizeIntervals::set_rule(IntervalRule rule) {
  if (rule == rule_) return;
  rule_ = rule;
  divisions_.clear();
}

bool SizeIntervals::add(double seconds, double busy) noexcept {
  const SizeStep step = size_step(seconds);
  if (step == kNoSizeStep) return false;
  ++count_;
  scale_ *= kGrowth;
  if (scale_ > 1e100) rescale();
  Bucket& bucket = buckets_[static_cast<std::size_t>(step)];
  bucket.weight += scale_;
  bucket.work += scale_ * seconds;
  busy_ += (busy - busy_) * std::max(kBusyWeight, 1 / static_cast<double>(count_));
  if (count_ < next_review_) return false;
  review_ = count_;
  law_ = buckets_;
  law_busy_ = busy_;
  next_review_ = count_ + std::min(count_, kReviewEvery);
  return true;
}

void SizeIntervals::rescale() noexcept {
  for (Bucket& bucket : buckets_) {
    bucket.weight /= scale_;
    bucket.work /= scale_;
    // What has faded to less than a billionth of a size is forgotten for good.
    if (bucket.weight < 1e-9) bucket = {};
  }
  scale_ = 1;
}

// True: ranges have changed.
bool SizeIntervals::divide(Division& division, const Question& question, const Answer& answer,
                           Change change) {
  const std::vector<double> bounds = answer ? *answer : equal_load(division.weights);
  const double all = work_of(question.law);
  std::array<Range, kSizeSteps> ranges;
  double below = 0, moved = 0;
  for (std::size_t step = 0; step < kSizeSteps; ++step) {
    const double behind = below + question.law[step].work;
    ranges[step] = hosts_of(bounds, below / all, behind / all);
    if (ranges[step] != division.ranges[step]) moved += question.law[step].work;
    below = behind;
  }
  if (change == Change::Large && moved <= kMoved * all) return false;
  division.cutoffs = sizes_at(question.law, bounds);
  return std::exchange(division.ranges, ranges) != ranges;
}

void SizeIntervals::review(Division& division) const {
  const bool first = division.reviewed_at == 0;
  division.reviewed_at = review_;
  const bool searched = rule_ == IntervalRule::LeastSlowdown && division.weights.size() > 1 &&
                        division.weights.size() <= kLeastSlowdownHostsMax;
  if (searched && search_ == Search::Apart) {
    division.questioned = true;
    if (!first) return;
  }
  const Question question{law_, law_busy_, division.weights, review_};
  const Answer best = searched && search_ == Search::AtOnce ? answer(question) : std::nullopt;
  divide(division, question, best, first ? Change::Any : Change::Large);
}

bool SizeIntervals::has_question() const noexcept {
  return std::any_of(divisions_.begin(), divisions_.end(),
                     [](const Division& one) { return one.questioned; });
}

std::optional<SizeIntervals::Question> SizeIntervals::take_question() {
  for (Division& division : divisions_)
    if (std::exchange(division.questioned, false))
      return Question{law_, law_busy_, division.weights, division.reviewed_at};
  return std::nullopt;
}

SizeIntervals::Answer SizeIntervals::answer(const Question& question) {
  return least_slowdown(question);
}

bool SizeIntervals::take_answer(const Question& question, const Answer& answer) {
  const auto found = std::find_if(divisions_.begin(), divisions_.end(),
                                  [&](const Division& one) { return one.weights == question.weights; });
  if (rule_ != IntervalRule::LeastSlowdown || found == divisions_.end() ||
      found->answered_at >= question.review)
    return false;
  const bool first = std::exchange(found->answered_at, question.review) == 0;
  return divide(*found, question, answer, first ? Change::Any : Change::Large);
}

const SizeIntervals::Division& SizeIntervals::division(std::span<const std::int64_t> weights) const {
  SLUICE_ASSERT(known() && !weights.empty());
  auto found = std::find_if(divisions_.begin(), divisions_.end(), [&](const Division& one) {
    return std::equal(one.weights.begin(), one.weights.end(), weights.begin(), weights.end());
  });
  if (found == divisions_.end()) {
    if (divisions_.size() >= kDivisionsMax)
      divisions_.erase(std::min_element(divisions_.begin(), divisions_.end(),
                                        [](const auto& a, const auto& b) { return a.asked < b.asked; }));
    divisions_.emplace_back().weights.assign(weights.begin(), weights.end());
    found = divisions_.end() - 1;
  }
  found->asked = ++asked_;
  if (found->reviewed_at != review_) review(*found);
  return *found;
}

SizeIntervals::Range SizeIntervals::range(SizeStep step, std::span<const std::int64_t> weights) const {
  SLUICE_ASSERT(step >= 0 && static_cast<std::size_t>(step) < kSizeSteps);
  return division(weights).ranges[static_cast<std::size_t>(step)];
}

std::vector<SizeIntervals::Interval> SizeIntervals::intervals(std::span<const std::int64_t> weights) const {
  const Division& is = division(weights);
  const double all = work_of(law_);
  std::vector<Interval> rows(weights.size());
  for (std::size_t host = 0; host < rows.size(); ++host) {
    rows[host].from = host == 0 ? 0 : is.cutoffs[host - 1];
    rows[host].to = host == is.cutoffs.size() ? std::numeric_limits<double>::infinity() : is.cutoffs[host];
  }
  double weight = 0;
  for (const Bucket& bucket : law_)
    weight += bucket.weight;
  for (std::size_t step = 0; step < kSizeSteps; ++step) {
    if (!(law_[step].weight > 0)) continue;
    const Range range = is.ranges[step];
    const auto shared = static_cast<double>(range.last - range.first + 1);
    for (std::size_t host = range.first; host <= range.last; ++host) {
      rows[host].job_share += law_[step].weight / weight / shared;
      rows[host].work_share += law_[step].work / all / shared;
    }
  }
  return rows;
}

}  // namespace sluice::policy
