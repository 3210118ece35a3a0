#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "router/client_legs.h"

namespace sluice::router {

class Session;

// Looks at the client sockets of one worker thread, a few per tick, in rounds: at most kPerHost of each host
// per round, drawn at random, so that a host with ten sessions is measured as often as one with ten thousand,
// and at most kPerTick system calls at a time. No query costs anything. On the worker's thread.
class LegSampler {
 public:
  static constexpr std::size_t kPerHost = 16;
  static constexpr std::size_t kPerTick = 64;
  using Sessions = std::unordered_map<std::uint64_t, Session*>;

  // Some of the round's sockets; a new round begins when the last is through and a second has passed.
  ClientLegs::Batch tick(const Sessions& sessions, std::chrono::steady_clock::time_point now);

 private:
  void begin_round(const Sessions& sessions);

  std::vector<std::uint64_t> left_;  // ids of the sessions still to be looked at in this round
  std::chrono::steady_clock::time_point began_{};
};

}  // namespace sluice::router
