#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <asio/any_io_executor.hpp>
#include <asio/awaitable.hpp>

#include "net/task_group.h"
#include "placer/snapshot.h"

namespace sluice::placer {

// What was measured of the way to a host, and how it is.
struct HostReport {
  std::optional<std::chrono::nanoseconds>
      path;  // median of requests for the health page over a kept connection
  std::optional<std::chrono::nanoseconds> connect;  // median of TCP connects
  std::size_t samples = 0;  // in the window of the path, or of connects without a health page
  std::optional<std::chrono::steady_clock::time_point> measured_at;
  bool checked = false;  // at least once
  bool up = false;
  std::string problem;  // of the last check that failed, "" after one that did not
};

// Asks each compute host for its health page, over and over: whether it is well, and how long the way to it
// is. A check opens a connection (whose TCP connect is measured) and asks over the connection that it has
// kept. The first check decides at once; afterwards a host goes up and down by health_check_rise and
// health_check_fall. Thread: that of the executor.
class Prober {
 public:
  using Checked = std::function<void(const HostState&, bool ok, bool changed)>;

  Prober(asio::any_io_executor executor, Checked checked);
  ~Prober();
  Prober(const Prober&) = delete;
  Prober& operator=(const Prober&) = delete;

  // Watches the hosts of the snapshot; hosts that were watched before keep what was measured.
  void configure(SnapshotPtr snapshot);
  // As Snapshot::hosts.
  std::vector<HostReport> reports() const;
  asio::awaitable<void> stop();

 private:
  struct Watch;
  asio::awaitable<void> follow(std::shared_ptr<Watch> watch);
  asio::awaitable<void> check(Watch& watch);
  void judge(Watch& watch, bool ok);

  asio::any_io_executor executor_;
  Checked checked_;
  SnapshotPtr snapshot_;
  std::vector<std::shared_ptr<Watch>> watches_;
  bool stopping_ = false;
  net::TaskGroup tasks_;
};

}  // namespace sluice::placer
