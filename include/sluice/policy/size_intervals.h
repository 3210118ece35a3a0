#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace sluice::policy {

// A size as precisely as it counts here: the power of two in four parts.
using SizeStep = std::int16_t;
inline constexpr SizeStep kNoSizeStep = -1;  // not known
inline constexpr std::size_t kSizeSteps = 256;
// Sizes below the first step or above the last, 2^-40 and 2^24 seconds, count as these. What is no positive
// number is not known.
SizeStep size_step(std::optional<double> seconds) noexcept;
double size_step_begin(std::size_t step) noexcept;  // its smallest size

enum class IntervalRule {
  EqualLoad,      // SITA-E: each host the same work, for its weight
  LeastSlowdown,  // SITA-V: the least mean slowdown, at the utilization that arrivals have found
};

// Which of a pool's hosts takes which sizes, learned from those that arrive.
// Source: Harchol-Balter, Crovella and Murta, "On Choosing a Task Assignment Policy for a Distributed Server
//         System", 1998 (SITA-E); Crovella, Harchol-Balter and Murta, "Task Assignment in a Distributed
//         System: Improving Performance by Unbalancing Load", 1998 (SITA-V). Utilization: arrivals see time
//         averages (Wolff, "Poisson Arrivals See Time Averages", Operations Research 30(2), 1982), so no
//         clock is needed.
// Shape:  hosts in order, the first for the smallest sizes. Sizes of one step always have the same answer.
// Where a
//         step has so much of the work that it reaches over several hosts, it has them all: with one size
//         only, all hosts have everything. So a size has a *range* of hosts, mostly one.
// Memory: of kSizeSteps weights and, per set of hosts lately asked about, as many ranges: 8 KiB, and 2 KiB
// each. Forgetting: after kHalfLife arrivals a size counts half. Hysteresis: ranges are looked at anew when
// the number of sizes has doubled, and at the latest after kReviewEvery;
//         they change only where more than kMoved of the work would go elsewhere.
// Cost:   add() O(1); range() O(hosts), at a review O(steps + hosts): microseconds. The search of
// LeastSlowdown
//         O(hosts steps^2): 0.2 ms with 2 hosts, 0.4 with 4, 1 with 16 to 32, at most once in kReviewEvery
//         arrivals, and again when hosts come or go. Who holds a lock meanwhile has it made apart from that.
//         Allocates at reviews and for a new set of hosts only.
// Deterministic, and the same on every machine. Thread: none of its own.
class SizeIntervals {
 public:
  static constexpr double kHalfLife = 2048;
  static constexpr std::uint64_t kKnownFrom = 64;  // sizes; with fewer nothing is divided
  static constexpr std::uint64_t kReviewEvery = 256;
  static constexpr double kMoved = 0.03;
  static constexpr std::size_t kLeastSlowdownHostsMax = 32;  // more are divided by EqualLoad

  struct Range {
    std::uint32_t first = 0, last = 0;  // hosts, both included
    friend bool operator==(const Range&, const Range&) = default;
  };
  struct Interval {
    double from = 0, to = 0;               // seconds; the last one's end is infinite
    double job_share = 0, work_share = 0;  // of what arrives, as it should come out
  };

  struct Bucket {
    double weight = 0, work = 0;
  };
  using Buckets = std::array<Bucket, kSizeSteps>;

  // A rule of its own each: what is known stays.
  void set_rule(IntervalRule rule);

  // LeastSlowdown's search is made when somebody asks for a range; or apart: take_question(), answer() on
  // whatever thread, take_answer(). Until then hosts are divided as they were, a new set of them by
  // EqualLoad.
  enum class Search { AtOnce, Apart };
  void set_search(Search search) noexcept { search_ = search; }
  // All that is needed for an answer.
  struct Question {
    Buckets law{};
    double busy = 0;
    std::vector<std::int64_t> weights;
    std::uint64_t review = 0;
  };
  // The shares of all work at which it is divided between the hosts; nothing: as EqualLoad.
  using Answer = std::optional<std::vector<double>>;
  bool has_question() const noexcept;
  std::optional<Question> take_question();
  static Answer answer(const Question& question);
  // True: ranges have changed. Nothing happens where these hosts, or the rule, are no longer asked about.
  bool take_answer(const Question& question, const Answer& answer);

  // An arrival of that size, which found `busy` of the pool's hosts at work, 0..1. True: ranges are looked at
  // anew from now on.
  bool add(double seconds, double busy) noexcept;

  bool known() const noexcept { return review_ > 0; }
  std::uint64_t count() const noexcept { return count_; }
  double utilization() const noexcept { return busy_; }
  // Of a step that is one, once known(). `weights`: of the hosts, in order; not empty, each at least 1.
  Range range(SizeStep step, std::span<const std::int64_t> weights) const;
  // Of each host, once known().
  std::vector<Interval> intervals(std::span<const std::int64_t> weights) const;

 private:
  // For one set of hosts.
  struct Division {
    std::vector<std::int64_t> weights;
    std::vector<double> cutoffs;  // between hosts, ascending
    std::array<Range, kSizeSteps> ranges{};
    std::uint64_t reviewed_at = 0;
    std::uint64_t asked = 0;
    std::uint64_t answered_at = 0;  // the review whose question has been answered
    bool questioned = false;        // a search is to be made
  };
  static constexpr std::size_t kDivisionsMax = 8;

  const Division& division(std::span<const std::int64_t> weights) const;
  enum class Change { Any, Large };  // beyond kMoved of the work
  static bool divide(Division& division, const Question& question, const Answer& answer, Change change);
  void review(Division& division) const;
  void rescale() noexcept;

  IntervalRule rule_ = IntervalRule::EqualLoad;
  Search search_ = Search::AtOnce;
  Buckets buckets_{};
  double scale_ = 1;  // weight of the newest size
  double busy_ = 0;
  std::uint64_t count_ = 0;
  std::uint64_t next_review_ = kKnownFrom;  // in terms of count_
  std::uint64_t review_ = 0;                // the last one, and what was known then
  Buckets law_{};
  double law_busy_ = 0;
  mutable std::uint64_t asked_ = 0;
  mutable std::vector<Division> divisions_;  // worked out when asked for
};

}  // namespace sluice::policy
