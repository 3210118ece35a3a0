#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sluice::cluster {

using TimePoint = std::chrono::steady_clock::time_point;

enum class ServerRole {
  Replica,
  Primary,
  Candidate,  // may be the primary: its recovery state is of interest and not judged
};
// Which servers may serve as replicas.
enum class ReplicaRecovery {
  Required,  // standbys only: one that was promoted is down
  Any,
};

enum class DownReason {
  None,  // it is up
  NotProbedYet,
  ConnectFailed,  // by a health check
  LoginFailed,
  ProbeTimeout,
  ProbeFailed,
  SessionFailed,  // a session could not connect to it, or got no answer at its login
  NotInRecovery,  // a replica that is no standby
  InRecovery,     // a primary that is a standby
  LagTooHigh,
  // By the keeper of the cluster, whatever probes say:
  Leader,         // a replica that is the primary by now
  NotRunning,     // starting, stopped, being made
  NoLoadBalance,  // its tag says so
};
std::string_view down_reason_name(DownReason reason) noexcept;  // "connect_failed"
std::string_view down_reason_text(DownReason reason) noexcept;  // one clause: "a session could not reach it"

struct HealthSettings {
  int rise = 2;  // good probes in a row that bring a server back; at start one is enough
  int fall = 3;  // failed probes in a row that take it out
  std::optional<std::uint64_t> lag_bytes_max;        // none: no limit
  std::optional<std::chrono::milliseconds> lag_max;  // none: no limit
  // A replica taken out for lag comes back once it is below this part of the limit.
  double lag_resume_ratio = 0.5;
  ReplicaRecovery replica_recovery = ReplicaRecovery::Required;
};

// A probe that was answered.
struct ProbeOk {
  TimePoint started{};
  std::optional<bool> in_recovery;         // empty: not known, and then not judged
  std::optional<std::uint64_t> lag_bytes;  // none: not known, or no standby
  std::optional<std::chrono::milliseconds> lag;
};
// One that was not. `reason` is ConnectFailed, LoginFailed, ProbeTimeout or ProbeFailed.
struct ProbeFailure {
  TimePoint started{};
  DownReason reason = DownReason::ProbeFailed;
};

struct HealthStatus {
  bool up = false;
  DownReason reason = DownReason::NotProbedYet;
  TimePoint since{};  // of this state; a change of reason while down does not move it

  friend bool operator==(const HealthStatus&, const HealthStatus&) = default;
};

// Decides from probes and from what sessions meet whether a server takes new sessions. Pure: time comes in.
//  - Starts down; the first probe decides at once.
//  - A session that could not connect takes the server down at once, and so do a wrong recovery state and lag
//    above the limit; failed probes do so after `fall` in a row.
//  - A bar, a reason from outside, keeps it down as long as it is there; below it the state goes on.
//  - Down ends after `rise` good probes in a row. A good probe is answered, has the right recovery state and
//    lag within the limit (its lower part, after a lag). One that began before the last failure of a session
//    counts for nothing.
// Every event returns whether status() changed.
class HealthState {
 public:
  HealthState(ServerRole role, HealthSettings settings, TimePoint now);

  bool on_probe_ok(const ProbeOk& probe, TimePoint now);
  bool on_probe_failed(const ProbeFailure& probe, TimePoint now);
  bool on_session_failure(TimePoint now);
  bool set_bar(DownReason bar, TimePoint now);  // None lifts it
  // New thresholds count from the next probe.
  void configure(HealthSettings settings) { settings_ = settings; }

  const HealthStatus& status() const noexcept { return shown_; }
  const HealthStatus& unbarred() const noexcept { return status_; }  // by probes and sessions alone
  int failures_in_row() const noexcept { return failures_; }

 private:
  DownReason fault_of(const ProbeOk& probe) const;
  void judge(const ProbeOk& probe, TimePoint now);
  void go_down(DownReason reason, TimePoint now);
  bool show(TimePoint now);

  ServerRole role_;
  HealthSettings settings_;
  HealthStatus status_;  // by probes and sessions alone
  HealthStatus shown_;   // the bar counted in
  DownReason bar_ = DownReason::None;
  int successes_ = 0, failures_ = 0;  // in a row; at most one is not 0
  std::optional<TimePoint> session_failure_;
};

}  // namespace sluice::cluster
