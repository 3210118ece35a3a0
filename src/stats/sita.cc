#include "sluice/stats/sita.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "sluice/stats/portable_math.h"

#include "base/assert.h"
#include "stats/sita_problem.h"

namespace sluice::stats {
namespace {

// Sizes between which nearly all jobs and all work lie: where to look for cutoffs.
struct Range {
  double low, high;
};

Range range_of(const Law& law) {
  Range range{law.lower(), law.upper()};
  const double mean = law.mean();
  if (range.high == kInfinity)
    for (range.high = mean; law.partial_moment(1, range.high, kInfinity) > 1e-12 * mean;)
      range.high *= 1.25;
  if (range.low <= 0)
    for (range.low = mean; law.partial_moment(0, 0, range.low) > 1e-12;)
      range.low /= 1.25;
  return range;
}

// The size below which the given share of all work lies.
double size_at_work_share(const Law& law, const Range& range, double mean, double share) {
  double low = portable::log(range.low), high = portable::log(range.high);
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (law.partial_moment(1, 0, portable::exp(middle)) < share * mean ? low : high) = middle;
  }
  return portable::exp((low + high) / 2);
}

std::vector<double> grid_of(const Law& law, const Range& range, std::size_t points) {
  std::vector<double> grid;
  const double low = portable::log(range.low), high = portable::log(range.high), mean = law.mean();
  const std::size_t half = points / 2;
  for (std::size_t i = 1; i <= half; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(half + 1);
    grid.push_back(portable::exp(low + (high - low) * share));
    grid.push_back(size_at_work_share(law, range, mean, share));
  }
  std::sort(grid.begin(), grid.end());
  return grid;
}

// The values themselves, or evenly chosen ones of them: between two values nothing changes.
std::vector<double> grid_of(const Empirical& law, std::size_t points) {
  std::vector<double> grid;
  const auto atoms = law.atoms();
  const std::size_t stride = std::max<std::size_t>(1, atoms.size() / points);
  for (std::size_t i = stride - 1; i < atoms.size(); i += stride)
    grid.push_back(atoms[i].value);
  return grid;
}

// The best h - 1 of the grid's points. best[g]: least cost of the sizes up to grid[g] on the hosts so far.
std::optional<std::vector<double>> best_on_grid(const SitaProblem& problem, const std::vector<double>& grid,
                                                std::size_t hosts) {
  const std::size_t n = grid.size();
  std::vector<SizeInterval> below(n + 1);  // up to grid[g]; the last: everything
  double from = 0;
  for (std::size_t g = 0; g <= n; ++g) {
    const double to = g < n ? grid[g] : kInfinity;
    below[g] = problem.interval(from, to);
    if (g > 0) below[g] = below[g - 1] + below[g];
    from = to;
  }
  std::vector<double> best(n + 1);
  for (std::size_t g = 0; g <= n; ++g)
    best[g] = problem.cost(below[g]);
  std::vector<std::vector<std::size_t>> choices;
  for (std::size_t host = 1; host < hosts; ++host) {
    std::vector<double> next(n + 1, kInfinity);
    std::vector<std::size_t> choice(n + 1, 0);
    for (std::size_t to = 0; to <= n; ++to)
      for (std::size_t cut = 0; cut <= to; ++cut) {
        if (!(best[cut] < next[to])) continue;
        const double cost = best[cut] + problem.cost(below[to] - below[cut]);
        if (!(cost < next[to])) continue;
        next[to] = cost;
        choice[to] = cut;
      }
    best = std::move(next);
    choices.push_back(std::move(choice));
  }
  if (!(best[n] < kInfinity)) return std::nullopt;
  std::vector<double> cutoffs(hosts - 1);
  std::size_t at = n;
  for (std::size_t host = hosts - 1; host-- > 0;)
    cutoffs[host] = grid[at = choices[host][at]];
  return cutoffs;
}

constexpr int kWindow = 10;  // points on either side of a cutoff

// The points that the cutoff in the middle may move to.
std::vector<double> window_around(double cutoff, double step) {
  std::vector<double> points;
  for (int w = -kWindow; w <= kWindow; ++w)
    points.push_back(cutoff * portable::exp(w * step));
  return points;
}

// Costs of all intervals from one of some points to one of others, both ascending. Each is put together from
// the parts on either side of a size between them, which makes few moments of many.
class IntervalCosts {
 public:
  IntervalCosts(const SitaProblem& problem, const std::vector<double>& from, const std::vector<double>& to)
      : problem_(problem), from_(from), to_(to), middle_(middle(from.back(), to.front())) {
    for (const double point : from)
      left_.push_back(problem.interval(point, middle_));
    for (const double point : to)
      right_.push_back(problem.interval(middle_, point));
  }

  double operator()(std::size_t from, std::size_t to) const {
    const double a = from_[from], b = to_[to];
    if (a >= b) return kInfinity;
    if (a > middle_ || b < middle_) return problem_.cost(problem_.interval(a, b));  // windows that overlap
    return problem_.cost(left_[from] + right_[to]);
  }

 private:
  static double middle(double a, double b) {
    if (a <= 0) return b;
    return b < kInfinity ? std::sqrt(a) * std::sqrt(b) : a;
  }

  const SitaProblem& problem_;
  const std::vector<double>&from_, &to_;
  double middle_;
  std::vector<SizeInterval> left_, right_;
};

// The best choice of one point each of windows around the cutoffs, at distances of `step` in ln x.
std::vector<double> best_in_windows(const SitaProblem& problem, const std::vector<double>& cutoffs,
                                    double step) {
  std::vector<std::vector<double>> windows = {{0}};
  for (const double cutoff : cutoffs)
    windows.push_back(window_around(cutoff, step));
  windows.push_back({kInfinity});
  std::vector<double> best{0};
  std::vector<std::vector<std::size_t>> choices;  // for each point, the best one of the window before
  for (std::size_t i = 1; i < windows.size(); ++i) {
    const IntervalCosts costs(problem, windows[i - 1], windows[i]);
    std::vector<double> next(windows[i].size(), kInfinity);
    std::vector<std::size_t> choice(windows[i].size(), 0);
    for (std::size_t to = 0; to < next.size(); ++to)
      for (std::size_t from = 0; from < best.size(); ++from) {
        const double cost = best[from] + costs(from, to);
        if (!(cost < next[to])) continue;
        next[to] = cost;
        choice[to] = from;
      }
    best = std::move(next);
    choices.push_back(std::move(choice));
  }
  if (!(best[0] < kInfinity)) return cutoffs;
  std::vector<double> moved(cutoffs.size());
  std::size_t at = 0;
  for (std::size_t i = cutoffs.size(); i-- > 0;)
    moved[i] = windows[i + 1][at = choices[i + 1][at]];
  return moved;
}

}  // namespace

std::size_t sita_host(std::span<const double> cutoffs, double size) noexcept {
  return static_cast<std::size_t>(std::lower_bound(cutoffs.begin(), cutoffs.end(), size) - cutoffs.begin());
}

SitaAnalysis analyse_sita(const Law& law, double lambda, std::span<const double> cutoffs) {
  SLUICE_ASSERT(lambda > 0 && std::is_sorted(cutoffs.begin(), cutoffs.end()));
  SitaAnalysis out;
  double waiting_square = 0, slowdown_square = 0, from = 0;
  for (std::size_t i = 0; i <= cutoffs.size(); ++i) {
    const double to = i < cutoffs.size() ? cutoffs[i] : kInfinity;
    const auto moment = [&](double j) { return law.partial_moment(j, from, to); };
    SitaHost& host = out.hosts.emplace_back();
    host.job_share = moment(0);
    host.utilization = lambda * moment(1);
    if (host.job_share > 0) {
      const bool stable = host.utilization < 1;
      host.waiting = stable ? lambda * moment(2) / (2 * (1 - host.utilization)) : kInfinity;
      const double square =
          2 * host.waiting * host.waiting + lambda * moment(3) / (3 * (1 - host.utilization));
      out.jobs.mean.waiting += host.waiting * host.job_share;
      out.jobs.mean.slowdown += host.waiting * moment(-1);
      waiting_square += (stable ? square : kInfinity) * host.job_share;
      slowdown_square += (stable ? square : kInfinity) * moment(-2);
    }
    from = to;
  }
  const JobMeans& mean = out.jobs.mean;
  out.jobs.waiting_variance =
      mean.waiting < kInfinity ? waiting_square - mean.waiting * mean.waiting : kInfinity;
  out.jobs.slowdown_variance =
      mean.slowdown < kInfinity ? slowdown_square - mean.slowdown * mean.slowdown : kInfinity;
  return out;
}

std::vector<double> sita_e_cutoffs(const Law& law, std::size_t hosts) {
  SLUICE_ASSERT(hosts >= 1);
  const double mean = law.mean();
  std::vector<double> cutoffs;
  if (const auto* empirical = dynamic_cast<const Empirical*>(&law)) {
    const auto atoms = empirical->atoms();
    double before = 0;  // work of the values below this one
    for (std::size_t n = 0; n < atoms.size(); ++n) {
      const double with = before + atoms[n].weight * atoms[n].value;
      while (cutoffs.size() + 1 < hosts) {
        const double goal = mean * static_cast<double>(cutoffs.size() + 1) / static_cast<double>(hosts);
        if (with < goal) break;
        const bool earlier_is_nearer = n > 0 && goal - before < with - goal;
        cutoffs.push_back(atoms[earlier_is_nearer ? n - 1 : n].value);
      }
      before = with;
    }
    cutoffs.resize(hosts - 1, law.upper());
    return cutoffs;
  }
  const Range range = range_of(law);
  for (std::size_t i = 1; i < hosts; ++i)
    cutoffs.push_back(
        size_at_work_share(law, range, mean, static_cast<double>(i) / static_cast<double>(hosts)));
  return cutoffs;
}

namespace {

// Windows around all cutoffs in one.
std::vector<double> points_around(const std::vector<double>& cutoffs, double step) {
  std::vector<double> points;
  for (const double cutoff : cutoffs)
    for (const double point : window_around(cutoff, step))
      points.push_back(point);
  return points;
}

}  // namespace

std::optional<std::vector<double>> sita_cutoffs(const Law& law, double lambda, std::size_t hosts,
                                                const SitaSearch& search) {
  SLUICE_ASSERT(lambda > 0 && hosts >= 1 && search.grid >= 2 * hosts);
  const SitaProblem problem{law, lambda, search};
  const bool ascending = search.loads == SitaLoads::Ascending;
  const auto best_of = [&](const std::vector<double>& points) {
    return ascending ? best_ascending(problem, points, hosts) : best_on_grid(problem, points, hosts);
  };
  if (const auto* empirical = dynamic_cast<const Empirical*>(&law))
    return best_of(grid_of(*empirical, search.grid));
  const Range range = range_of(law);
  std::vector<double> grid = grid_of(law, range, search.grid);
  if (ascending)  // so that there is always a choice: even loads do not fall
    for (const double cutoff : sita_e_cutoffs(law, hosts))
      grid.push_back(cutoff);
  std::optional<std::vector<double>> cutoffs = best_of(grid);
  if (!cutoffs) return std::nullopt;
  // The first window reaches over two steps of the coarser, logarithmic half of the grid.
  double step = 4 * portable::log(range.high / range.low) / static_cast<double>(search.grid) / kWindow;
  for (; step * kWindow > 1e-9; step *= 0.6) {
    if (!ascending) {
      cutoffs = best_in_windows(problem, *cutoffs, step);
    } else if (auto moved = best_ascending(problem, points_around(*cutoffs, step), hosts)) {
      cutoffs = std::move(moved);
    }
  }
  return cutoffs;
}

}  // namespace sluice::stats
