#include "cluster/health.h"

#include <algorithm>

namespace sluice::cluster {

std::string_view down_reason_name(DownReason reason) noexcept {
  switch (reason) {
    case DownReason::None:
      return "none";
    case DownReason::NotProbedYet:
      return "not_probed_yet";
    case DownReason::ConnectFailed:
      return "connect_failed";
    case DownReason::LoginFailed:
      return "login_failed";
    case DownReason::ProbeTimeout:
      return "probe_timeout";
    case DownReason::ProbeFailed:
      return "probe_failed";
    case DownReason::SessionFailed:
      return "session_failed";
    case DownReason::NotInRecovery:
      return "not_in_recovery";
    case DownReason::InRecovery:
      return "in_recovery";
    case DownReason::LagTooHigh:
      return "lag_too_high";
    case DownReason::Leader:
      return "leader";
    case DownReason::NotRunning:
      return "not_running";
    case DownReason::NoLoadBalance:
      return "noloadbalance";
  }
  return "none";
}

std::string_view down_reason_text(DownReason reason) noexcept {
  switch (reason) {
    case DownReason::None:
      return "it is up";
    case DownReason::NotProbedYet:
      return "no health check has been answered yet";
    case DownReason::ConnectFailed:
      return "health checks cannot connect to it";
    case DownReason::LoginFailed:
      return "it refuses the login of health checks";
    case DownReason::ProbeTimeout:
      return "it does not answer health checks in time";
    case DownReason::ProbeFailed:
      return "its health checks fail";
    case DownReason::SessionFailed:
      return "a session could not reach it";
    case DownReason::NotInRecovery:
      return "it is no standby, as a replica has to be";
    case DownReason::InRecovery:
      return "it is a standby, so it cannot be the primary";
    case DownReason::LagTooHigh:
      return "its replay lag is above the limit";
    case DownReason::Leader:
      return "Patroni says that it is the leader";
    case DownReason::NotRunning:
      return "Patroni says that it is not running";
    case DownReason::NoLoadBalance:
      return "its tag noloadbalance keeps sessions away";
  }
  return "";
}

HealthState::HealthState(ServerRole role, HealthSettings settings, TimePoint now)
    : role_(role), settings_(settings), status_{false, DownReason::NotProbedYet, now}, shown_(status_) {}

DownReason HealthState::fault_of(const ProbeOk& probe) const {
  if (role_ == ServerRole::Candidate) return DownReason::None;
  if (role_ == ServerRole::Primary)
    return probe.in_recovery == true ? DownReason::InRecovery : DownReason::None;
  if (probe.in_recovery == false)
    return settings_.replica_recovery == ReplicaRecovery::Required ? DownReason::NotInRecovery
                                                                   : DownReason::None;
  // After a lag the replica has to come well below the limit, so that it does not flap around it.
  const bool was_lagging = status_.reason == DownReason::LagTooHigh;
  const double part = was_lagging ? std::clamp(settings_.lag_resume_ratio, 0.0, 1.0) : 1.0;
  if (settings_.lag_bytes_max && probe.lag_bytes &&
      static_cast<double>(*probe.lag_bytes) > part * static_cast<double>(*settings_.lag_bytes_max))
    return DownReason::LagTooHigh;
  if (settings_.lag_max && probe.lag &&
      static_cast<double>(probe.lag->count()) > part * static_cast<double>(settings_.lag_max->count()))
    return DownReason::LagTooHigh;
  return DownReason::None;
}

void HealthState::go_down(DownReason reason, TimePoint now) {
  successes_ = 0;
  if (!status_.up && status_.reason == reason) return;
  status_ = {false, reason, status_.up ? now : status_.since};
}

// What is shown after an event, and whether that is news.
bool HealthState::show(TimePoint now) {
  HealthStatus next = status_;
  if (bar_ != DownReason::None) next = {false, bar_, now};
  next.since = next.up == shown_.up ? shown_.since : now;
  if (next.up == shown_.up && next.reason == shown_.reason) return false;
  shown_ = next;
  return true;
}

void HealthState::judge(const ProbeOk& probe, TimePoint now) {
  failures_ = 0;
  if (session_failure_ && probe.started <= *session_failure_) return;
  if (const DownReason fault = fault_of(probe); fault != DownReason::None) return go_down(fault, now);
  if (status_.up) return;
  ++successes_;
  const bool first = status_.reason == DownReason::NotProbedYet;
  if (first || successes_ >= settings_.rise) status_ = {true, DownReason::None, now};
}

bool HealthState::on_probe_ok(const ProbeOk& probe, TimePoint now) {
  judge(probe, now);
  return show(now);
}

bool HealthState::on_probe_failed(const ProbeFailure& probe, TimePoint now) {
  successes_ = 0;
  ++failures_;
  if (!status_.up || failures_ >= settings_.fall) go_down(probe.reason, now);
  return show(now);
}

bool HealthState::on_session_failure(TimePoint now) {
  session_failure_ = now;
  successes_ = 0;
  if (status_.up || status_.reason == DownReason::NotProbedYet) go_down(DownReason::SessionFailed, now);
  return show(now);
}

bool HealthState::set_bar(DownReason bar, TimePoint now) {
  bar_ = bar;
  return show(now);
}

}  // namespace sluice::cluster
