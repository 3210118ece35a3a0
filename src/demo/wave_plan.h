#pragma once

#include <chrono>
#include <cstddef>
#include <string_view>
#include <vector>

// When which class sends how many sessions. Pure.
namespace sluice::demo {

using Millis = std::chrono::milliseconds;

// Sessions of one pgbench run: they open together and end together.
struct Wave {
  std::size_t class_index = 0;  // 0: the first class, Premium
  Millis start{};               // since the load began
  int sessions = 0;
  std::chrono::seconds length{};
};

// One round of the load; it is repeated for ever. Every class always has a few sessions, renewed every
// second, as borrowed replicas are returned when the next session arrives. On top Premium comes in a rush,
// and later Freemium.
inline constexpr std::chrono::seconds kRound{18};
inline constexpr int kSaturation = 4;  // sessions per replica, of both classes

// The waves that begin in [from, to), earliest first; Premium first where two begin together.
std::vector<Wave> waves_between(Millis from, Millis to);

// What is going on at this moment, in a few words for the head of the table.
std::string_view phase_at(Millis time);

}  // namespace sluice::demo
