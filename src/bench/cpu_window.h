#pragma once

#include <future>
#include <vector>

#include "bench/clock.h"
#include "bench/cpu_reader.h"
#include "bench/run_info.h"

namespace sluice::bench {

// Processor time of the replicas between two readings. Reading takes milliseconds where /proc has many
// processes, so a thread of its own does it, and tells when it did.
class CpuWindow {
 public:
  // Reads once, here, so that what cannot be read is known before anything is measured; throws Failure.
  explicit CpuWindow(const std::vector<ReplicaSpec>& replicas);
  CpuWindow(const CpuWindow&) = delete;
  CpuWindow& operator=(const CpuWindow&) = delete;

  // Return at once. One of each, in this order.
  void begin();
  void end();
  // Waits for both readings; throws Failure when one of them was not possible. What has no source is left
  // out.
  std::vector<ReplicaUse> use();

 private:
  struct Reading {
    Clock::time_point at;
    std::vector<double> seconds;
  };
  static Reading read(const std::vector<ReplicaSpec>& replicas);

  std::vector<ReplicaSpec> replicas_;
  std::vector<CpuBasis> basis_;
  std::shared_future<Reading> first_;
  std::future<Reading> last_;
};

}  // namespace sluice::bench
