#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "admin/router_view.h"

namespace sluice::admin {

// How classes and pools were over the last hour, for those who begin to look now. Pure.
// Shape:  kSamplesMax samples, kStep apart, whoever looks; of each replica the moments at which its pool had
// changed.
class History {
 public:
  static constexpr std::chrono::seconds kStep{10};
  static constexpr std::size_t kSamplesMax = 360;

  struct OfClass {
    std::string name;
    std::int64_t sessions = 0, waiting = 0, replicas = 0, opened = 0;  // opened: since the sample before
    Quantiles response;                                                // of the minute before
    std::optional<Micros> wait_p95;
  };
  struct Sample {
    std::uint64_t number = 0;  // from 1, without gaps
    WallTime time{};
    std::vector<OfClass> classes;
    std::int64_t rejected = 0;  // clients turned away since the sample before
  };
  // Where a replica was from then on. pool "": it is in the configuration no more.
  struct Stay {
    WallTime since{};
    std::string pool;
    bool borrowed = false, live = false;
    bool same_place(const Stay& other) const {
      return pool == other.pool && borrowed == other.borrowed && live == other.live;
    }
  };
  using Stays = std::map<std::string, std::deque<Stay>, std::less<>>;  // by replica, oldest first

  // `overview` has Part::Overview in it.
  void add(WallTime now, const Snapshot& overview);

  const std::deque<Sample>& samples() const noexcept { return samples_; }
  const Stays& stays() const noexcept { return stays_; }

 private:
  void add_stays(WallTime now, const std::vector<ReplicaRow>& replicas);

  std::deque<Sample> samples_;
  Stays stays_;
  std::uint64_t number_ = 0;
  std::map<std::string, std::int64_t> opened_;  // by class, as of the last sample
  std::int64_t rejected_ = 0;
};

}  // namespace sluice::admin
