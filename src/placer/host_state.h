#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "net/connect.h"

namespace sluice::placer {

// What all threads know of a compute host beside its configuration. Lives across reloads, by its name and
// address.
struct HostState {
  HostState(std::string host_name, net::ConnectTarget connect_target)
      : name(std::move(host_name)), target(std::move(connect_target)) {}

  const std::string name;
  const net::ConnectTarget target;

  // Its health checks succeed, and requests do not fail there. Written by the control thread; any thread may
  // take it away.
  std::atomic<bool> up{false};
  std::atomic<std::uint32_t> in_flight{0};  // requests of ours
  std::atomic<std::uint32_t> failures_in_row{
      0};  // requests that failed by its fault, since the last that did not

  // A request failed by its fault. True: that was one too many (`limit`, 0 = none), the host is out now.
  bool note_failure(std::uint32_t limit) noexcept {
    const std::uint32_t failures = failures_in_row.fetch_add(1, std::memory_order_relaxed) + 1;
    return limit > 0 && failures >= limit && up.exchange(false, std::memory_order_relaxed);
  }
  void note_success() noexcept {
    if (failures_in_row.load(std::memory_order_relaxed) != 0)
      failures_in_row.store(0, std::memory_order_relaxed);
  }
};
using HostPtr = std::shared_ptr<HostState>;

}  // namespace sluice::placer
