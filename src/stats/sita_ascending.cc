#include <algorithm>
#include <cstdint>

#include "stats/sita_problem.h"

namespace sluice::stats {
namespace {

// Loads that should be equal may differ by rounding.
constexpr double kRounding = 1 + 1e-12;

// A cost for each interval (points[from], points[to]].
class Square {
 public:
  Square(std::size_t side, double value) : side_(side), values_(side * side, value) {}
  double& at(std::size_t from, std::size_t to) { return values_[from * side_ + to]; }

 private:
  std::size_t side_;
  std::vector<double> values_;
};

// What the next host adds: for each interval (cut, to] the best interval before it, (from, cut], among those
// with no greater load. Both loads grow as the intervals do, so that one walk over `from` serves all `to`.
void add_host(const SitaProblem& problem, const std::vector<SizeInterval>& below, Square& best, Square& next,
              std::vector<std::uint32_t>& choice) {
  const std::size_t n = below.size();
  for (std::size_t cut = 0; cut < n; ++cut) {
    double least = kInfinity;
    std::size_t from = cut + 1, least_from = cut;  // intervals (from, cut] and shorter have been looked at
    for (std::size_t to = cut; to < n; ++to) {
      const SizeInterval last = below[to] - below[cut];
      while (from > 0 && (below[cut] - below[from - 1]).load <= last.load * kRounding) {
        --from;
        if (!(best.at(from, cut) < least)) continue;
        least = best.at(from, cut);
        least_from = from;
      }
      next.at(cut, to) = least < kInfinity ? least + problem.cost(last) : kInfinity;
      choice[cut * n + to] = static_cast<std::uint32_t>(least_from);
    }
  }
}

}  // namespace

std::optional<std::vector<double>> best_ascending(const SitaProblem& problem, std::vector<double> points,
                                                  std::size_t hosts) {
  points.push_back(0);
  points.push_back(kInfinity);
  std::sort(points.begin(), points.end());
  const std::size_t n = points.size();
  std::vector<SizeInterval> below(n);
  for (std::size_t i = 1; i < n; ++i)
    below[i] = below[i - 1] + problem.interval(points[i - 1], points[i]);
  Square best(n, kInfinity);
  for (std::size_t to = 0; to < n; ++to)
    best.at(0, to) = problem.cost(below[to]);
  std::vector<std::vector<std::uint32_t>> choices;
  for (std::size_t host = 1; host < hosts; ++host) {
    Square next(n, kInfinity);
    choices.emplace_back(n * n, 0);
    add_host(problem, below, best, next, choices.back());
    best = std::move(next);
  }
  std::size_t from = 0, to = n - 1;
  for (std::size_t i = 1; i < n; ++i)
    if (best.at(i, to) < best.at(from, to)) from = i;
  if (!(best.at(from, to) < kInfinity)) return std::nullopt;
  std::vector<double> cutoffs(hosts - 1);
  for (std::size_t host = hosts - 1; host-- > 0;) {
    cutoffs[host] = points[from];
    const std::size_t before = choices[host][from * n + to];
    to = from;
    from = before;
  }
  return cutoffs;
}

}  // namespace sluice::stats
