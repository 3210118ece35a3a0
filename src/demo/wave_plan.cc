#include "demo/wave_plan.h"

#include <algorithm>

namespace sluice::demo {
namespace {

using std::chrono::seconds;

// Two runs per class, two seconds long and a second apart: sessions come and go all the time, and some are
// always there.
constexpr seconds kCalmLength{2};
constexpr int kCalmSessions = 2;

// Pools hold two replicas per class with room for four sessions each, and Mixed one more: a rush of eleven
// beside the calm four fills the own pool, borrows Mixed, and then goes for the other class.
constexpr int kRushSessions = 11;
struct Rush {
  std::size_t class_index;
  seconds start, length;
  std::string_view phase;
};
constexpr Rush kRushes[] = {{0, seconds(2), seconds(5), "Premium rush"},
                            {1, seconds(11), seconds(4), "Freemium rush"}};

void add_round(std::vector<Wave>& waves, Millis begin) {
  for (seconds at{0}; at < kRound; at += seconds(1))
    for (std::size_t class_index : {0U, 1U})
      waves.push_back({class_index, begin + at, kCalmSessions, kCalmLength});
  for (const Rush& rush : kRushes)
    waves.push_back({rush.class_index, begin + rush.start, kRushSessions, rush.length});
}

}  // namespace

std::vector<Wave> waves_between(Millis from, Millis to) {
  std::vector<Wave> waves;
  if (to <= from) return waves;
  for (Millis begin = from / Millis(kRound) * Millis(kRound); begin < to; begin += kRound)
    add_round(waves, begin);
  std::erase_if(waves, [&](const Wave& wave) { return wave.start < from || wave.start >= to; });
  std::stable_sort(waves.begin(), waves.end(), [](const Wave& a, const Wave& b) {
    return a.start != b.start ? a.start < b.start : a.class_index < b.class_index;
  });
  return waves;
}

std::string_view phase_at(Millis time) {
  const Millis in_round = time % Millis(kRound);
  for (const Rush& rush : kRushes)
    if (in_round >= rush.start && in_round < rush.start + rush.length) return rush.phase;
  return "calm";
}

}  // namespace sluice::demo
