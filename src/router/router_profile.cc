// The router as the writer of a profile.

#include <utility>

#include <asio/experimental/as_tuple.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>
#include <unistd.h>

#include "router/profile_contents.h"
#include "router/router.h"
#include "telemetry/log.h"

namespace sluice::router {

// On a timer, whether or not a profile is published: the policy's round trips come from the same contents.
asio::awaitable<void> Router::publish_profile() {
  co_await asio::this_coro::throw_if_cancelled(false);
  while (!stopped_) {
    publish_now();
    profile_timer_.expires_after(snapshot()->options().profile_interval);
    co_await profile_timer_.async_wait(asio::experimental::as_tuple(asio::use_awaitable));
  }
  profile_writer_.reset();  // says good-bye to readers
}

void Router::publish_now() {
  const config::Options& options = snapshot()->options();
  look_at_calibration(options.calibration_file);
  const profile::Contents contents = profile_contents(*this);
  const auto now = std::chrono::steady_clock::now();
  admission_->set_round_trips(round_trips_by_host(contents));
  {
    const std::lock_guard lock(mutex_);
    ++publications_;
  }
  if (served_by_ != service::ServedBy::Us) return;  // whoever serves publishes
  const shm::ProfileWriter::Settings wanted{options.profile_path, options.profile_mode,
                                            options.profile_interval};
  if (profile_writer_ && profile_writer_->settings() != wanted) profile_writer_.reset();
  if (wanted.path.empty()) return;
  std::string problem;
  if (!profile_writer_) {
    if (auto opened = shm::ProfileWriter::open(wanted, problem)) profile_writer_.emplace(*std::move(opened));
  }
  const bool ok = profile_writer_ && profile_writer_->publish(contents, now, problem);
  control_metrics_->count(telemetry::metric::profile_publications_total,
                          ok ? telemetry::OkOrFailed::Ok : telemetry::OkOrFailed::Failed);
  // Once, not each second.
  if (!ok && problem != profile_problem_) log::error("profile is not published", {{"reason", problem}});
  if (ok && !profile_problem_.empty()) log::info("profile is published again", {{"path", wanted.path}});
  profile_problem_ = std::move(problem);
}

void Router::look_at_calibration(const std::string& path) {
  using News = calibration::CalibrationWatch::News;
  const News news = calibration_watch_.look(path);
  auto calibration = calibration_watch_.calibration();
  if (news == News::Read)
    log::info("calibration read",
              {{"file", path}, {"hosts", calibration->hosts.size()}, {"routes", calibration->routes.size()}});
  if (news == News::Missing) log::warning("no calibration", {{"reason", calibration_watch_.problem()}});
  if (news == News::Broken)
    log::error("the calibration is not used", {{"reason", calibration_watch_.problem()}});
  const std::lock_guard lock(mutex_);
  calibration_.swap(calibration);
}

RoundTrips Router::round_trips_by_host(const profile::Contents& contents) const {
  RoundTrips round_trips;
  for (std::size_t s = 0; s < contents.servers.size(); ++s) {
    if (contents.servers[s].role != profile::ServerRole::Replica) continue;
    const auto replica = admission_->find_replica(contents.servers[s].name);
    if (!replica) continue;
    for (std::size_t h = 0; h < contents.hosts.size(); ++h) {
      auto& row = round_trips[contents.hosts[h].name];
      if (row.size() <= replica->value()) row.resize(replica->value() + 1);
      row[replica->value()] = contents.rtt[h * contents.servers.size() + s].estimate;
    }
  }
  return round_trips;
}

void Router::sample_round_trips(const telemetry::Names& names, telemetry::Samples& samples) const {
  using namespace telemetry;
  const auto seconds = [](auto duration) { return std::chrono::duration<double>(duration).count(); };
  const auto now = std::chrono::steady_clock::now();
  const ClientLegs::Legs legs = shared_->client_legs.all();
  const profile::Contents contents = profile_contents(*this);
  for (std::uint32_t i = 0; i < names.hosts.size(); ++i) {
    const auto found = legs.find(names.hosts[i]);
    if (found == legs.end()) continue;
    const LegEstimator::Leg& leg = found->second;
    samples.set(metric::host_rtt_seconds, seconds(leg.estimate), HostLabel(i), LegStatistic::Estimate);
    samples.set(metric::host_rtt_seconds, seconds(leg.minimum), HostLabel(i), LegStatistic::Minimum);
    samples.set(metric::host_rtt_seconds, seconds(leg.smoothed), HostLabel(i), LegStatistic::Smoothed);
    samples.set(metric::host_rtt_seconds, seconds(leg.deviation), HostLabel(i), LegStatistic::Deviation);
    samples.set(metric::host_rtt_age_seconds, seconds(now - leg.measured_at), HostLabel(i));
    const auto host = find_host(contents, names.hosts[i]);
    for (std::size_t s = 0; host && s < contents.servers.size(); ++s) {
      const profile::Rtt& rtt = contents.rtt[*host * contents.servers.size() + s];
      if (rtt.source == profile::Rtt::Source::None) continue;
      const auto replica = admission_->find_replica(contents.servers[s].name);
      const bool primary = contents.servers[s].role == profile::ServerRole::Primary;
      if (primary || replica)
        samples.set(metric::rtt_seconds, seconds(rtt.estimate), HostLabel(i),
                    primary ? ServerLabel::primary() : ServerLabel(*replica));
    }
  }
}

std::shared_ptr<const calibration::Calibration> Router::calibration() const {
  const std::lock_guard lock(mutex_);
  return calibration_;
}

profile::Publication Router::publication() const {
  profile::Publication publication;
  publication.writer_pid = ::getpid();
  publication.started_at = started_steady_;
  publication.generation = static_cast<std::uint64_t>(started_.time_since_epoch().count());
  publication.interval = snapshot()->options().profile_interval;
  publication.heartbeat = publication.contents_at = std::chrono::steady_clock::now();
  const std::lock_guard lock(mutex_);
  publication.publications = publications_;
  return publication;
}

}  // namespace sluice::router
