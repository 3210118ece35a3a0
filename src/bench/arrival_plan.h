#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sluice::bench {

// What is asked of the plan. Times in seconds.
struct Arrivals {
  std::size_t terminals = 300;  // T
  double duration = 60;         // D
  double lifetime_min = 10, lifetime_max = 30;
  double premium_share = 0.5;  // of the terminals, 0 to 1
  std::size_t hosts = 1;       // they come from, at least 1
  std::uint64_t seed = 1;
};

// One session, before anything has happened.
struct TerminalPlan {
  double arrives = 0;           // since the run's beginning
  double lifetime = 0;          // from being connected
  std::size_t class_index = 0;  // 0: Premium, 1: Freemium
  std::size_t host = 0;
  std::uint64_t seed = 0;  // of its queries and pauses
};

// Exactly T sessions, by arrival, all before D: a Poisson process of rate T/D given that T arrived, which is
// T gaps of an exponential law and one more, stretched to D. Classes are dealt, not drawn: the share comes
// out as near as T allows. The same arguments give the same plan on every machine. Source: Ross,
// "Introduction to Probability Models", the section on the conditional distribution of arrival times. Shape:
// terminals, duration and hosts above 0, lifetime_min <= lifetime_max.
std::vector<TerminalPlan> plan_arrivals(const Arrivals& arrivals);

}  // namespace sluice::bench
