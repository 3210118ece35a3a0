#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <asio/any_io_executor.hpp>
#include <asio/awaitable.hpp>

#include "cluster/health.h"
#include "cluster/probe_times.h"
#include "pgclient/client.h"

namespace sluice::cluster {

struct MonitoredServer {
  std::string name;  // unique
  ServerRole role = ServerRole::Replica;
  // Without a user only whether the server accepts connections is checked; recovery state and lag are not.
  pgclient::ConnectParams connect;
  // Whether its recovery state tells who the primary is: probed sooner while there is none.
  bool may_be_primary = false;
  // By the keeper of the cluster: why it takes no sessions, and its lag where probes do not tell.
  DownReason bar = DownReason::None;
  std::optional<std::uint64_t> lag_bytes{};
};

struct MonitorSettings {
  HealthSettings health;
  std::chrono::milliseconds interval{1'000};  // between probes of a server; each is moved by up to a tenth
  std::chrono::milliseconds timeout{1'000};   // of a whole probe, connecting included
};

// What is known of a server.
struct ServerHealth {
  std::size_t index = 0;  // in the list last given to configure()
  std::string name;
  ServerRole role = ServerRole::Replica;
  HealthStatus status;
  HealthStatus probed;  // the same without what the keeper of the cluster says
  std::optional<bool> in_recovery;
  std::optional<std::uint64_t> lag_bytes;
  std::optional<std::chrono::milliseconds> lag;
  std::optional<std::uint64_t> timeline;
  std::optional<std::uint64_t>
      replayed;  // standby: what its queries saw at the last answered probe, or later
  ProbeTimes probe_times;
  std::optional<TimePoint> answered;  // when the last answered probe ended
  int failures_in_row = 0;
  std::uint64_t probes_ok = 0, probes_failed = 0;
  std::string last_error;  // one line, never a secret; of the last failed probe
};

// Probes each server over a warm connection and decides which are up. All on one executor, the control
// thread's; others post to it. Changes are logged here.
class HealthMonitor {
 public:
  // Called on the executor after `status` or `probed` has changed; may call back into the monitor.
  using OnChange = std::function<void(const ServerHealth&)>;
  using OnProbe = std::function<void(const ServerHealth&, bool ok)>;

  HealthMonitor(asio::any_io_executor executor, OnChange on_change, OnProbe on_probe = {});
  HealthMonitor(const HealthMonitor&) = delete;
  HealthMonitor& operator=(const HealthMonitor&) = delete;
  ~HealthMonitor();  // stop() before it

  // The first call starts probing; a later one is a reload. A server whose name, role and connection stay
  // keeps its state and its connection; others begin anew as NotProbedYet.
  void configure(std::vector<MonitoredServer> servers, MonitorSettings settings);

  // A session could not reach the server: down at once, and probed at once. Unknown names
  // are ignored: a reload may have taken the server away.
  void session_failed(std::string_view server);
  // Probes it now, not at its next turn.
  void probe_now(std::string_view server);
  // Who the primary is: its position is every replica's head, whatever its role here. "" where there is none;
  // then those that may be it are probed every kSeekInterval.
  void set_primary(std::string_view server);
  static constexpr std::chrono::milliseconds kSeekInterval{200};

  std::vector<ServerHealth> servers() const;  // in the order of configure()
  asio::awaitable<void> stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sluice::cluster
