// What a running placer does beside its requests: signals, reload, the end, and keeping its knowledge fresh.

#include <algorithm>
#include <csignal>
#include <utility>

#include <asio/experimental/as_tuple.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include "placer/placer.h"
#include "placer/snapshot_parts.h"
#include "profile/profile_error.h"
#include "telemetry/log_settings.h"

namespace sluice::placer {
namespace {

using namespace std::chrono_literals;

constexpr auto kDrainPoll = 20ms;
constexpr auto kLookPoll = 5ms;
constexpr auto kAwait = asio::experimental::as_tuple(asio::use_awaitable);

}  // namespace

// Whoever follows another process looks first which hosts are up: the other one knows, and serves meanwhile.
asio::awaitable<void> Placer::begin() {
  co_await asio::this_coro::throw_if_cancelled(false);
  const auto until = std::chrono::steady_clock::now() + snapshot_->options().health_check_timeout;
  const auto known = [this] {
    const std::vector<HostReport> reports = prober_->reports();
    return std::all_of(reports.begin(), reports.end(), [](const HostReport& host) { return host.checked; });
  };
  asio::steady_timer timer(control_);
  while (succession_.clients() != nullptr && !shutting_down_ && !known() &&
         std::chrono::steady_clock::now() < until) {
    timer.expires_after(kLookPoll);
    co_await timer.async_wait(kAwait);
  }
  if (shutting_down_) co_return;
  publish();
  for (const auto& worker : workers_)
    worker->start();
  log::info("ready", {{"version", SLUICE_VERSION},
                      {"threads", workers_.size()},
                      {"compute_hosts", snapshot_->hosts.size()},
                      {"routes", snapshot_->config->routes.size()},
                      {"policy", config::word_of(snapshot_->options().policy)}});
  if (begin_succession()) begin_service();
}

// Apart from the signals that end the placer: those must not wait behind a row of reloads.
asio::awaitable<void> Placer::handle_reload_signals() {
  co_await asio::this_coro::throw_if_cancelled(false);
  while (!stopped_) {
    const auto [ec, signal] = co_await reload_signals_.async_wait(kAwait);
    if (ec) co_return;
    if (signal == SIGUSR1) {
      if (const auto done = log::reopen(); !done)
        log::error("the log cannot be opened anew", {{"reason", done.error().code.message()}});
      if (shared_.access_log != nullptr) (void)shared_.access_log->open();
    } else if (signal == SIGUSR2) {
      succession_.start_successor(shutting_down_ ? "shutting down" : "");
    } else if (!shutting_down_) {
      reload();
    }
  }
}

asio::awaitable<void> Placer::handle_end_signals() {
  co_await asio::this_coro::throw_if_cancelled(false);
  while (!stopped_) {
    const auto [ec, signal] = co_await end_signals_.async_wait(kAwait);
    if (ec) co_return;
    // The second one is meant: whoever sends it does not want to wait.
    const bool at_once = signal == SIGQUIT || (shutting_down_ && !lingering_);
    end(at_once ? 0ms : snapshot_->options().drain_timeout);
  }
}

void Placer::end(std::chrono::milliseconds patience) {
  drain_until_ = std::chrono::steady_clock::now() + patience;
  if (std::exchange(lingering_, false))
    for (const auto& worker : workers_)
      worker->drain(Drain::Now);
  if (std::exchange(shutting_down_, true)) return;
  log::info("shutting down",
            {{"connections", shared_.client_connections.load()}, {"seconds_at_most", patience}});
  notifier_.stopping(status_line());
  tasks_.spawn("drain", drain());
}

// No new connections; requests under way may end until the deadline; then everything ends. Where another
// process serves idle connections have until their next request, or keepalive_timeout.
asio::awaitable<void> Placer::drain() {
  co_await asio::this_coro::throw_if_cancelled(false);
  for (const auto& worker : workers_)
    worker->drain(lingering_ ? Drain::AfterNext : Drain::Now);
  co_await succession_.stop();
  if (served_by_ != service::ServedBy::Us) {  // what is asked and copied here is the other's
    if (admin_) co_await admin_->stop();
    if (mirror_) co_await mirror_->stop();
  }
  asio::steady_timer timer(control_);
  while ((shared_.listeners_accepting.load(std::memory_order_acquire) > 0 ||
          shared_.client_connections.load() > 0) &&
         std::chrono::steady_clock::now() < drain_until_) {
    timer.expires_after(kDrainPoll);
    co_await timer.async_wait(kAwait);
  }
  if (const std::size_t left = shared_.client_connections.load(); left > 0)
    log::warning("connections cut off by the shutdown", {{"connections", left}});
  if (loop_watch_) loop_watch_->stop();
  for (const auto& worker : workers_)
    worker->stop();
  while (shared_.workers_running.load() > 0) {
    timer.expires_after(kDrainPoll);
    co_await timer.async_wait(kAwait);
  }
  if (admin_) co_await admin_->stop();
  co_await prober_->stop();
  if (mirror_) co_await mirror_->stop();
  // First of all: to cancel a wait that has just been answered does nothing, and another one would follow.
  stopped_ = true;
  asio::error_code ignored;
  reload_signals_.cancel(ignored);
  end_signals_.cancel(ignored);
  decide_timer_.cancel();
}

void Placer::remember_requests() {
  using telemetry::StatusClass;
  const auto now = std::chrono::steady_clock::now();
  if (!history_.due(now)) return;
  const telemetry::Reading reading = telemetry_->read();
  std::vector<RequestHistory::OfHost> totals;
  for (std::size_t i = 0; i < snapshot_->hosts.size(); ++i) {
    RequestHistory::OfHost host{snapshot_->hosts[i]->name, 0};
    for (std::size_t s = 0; s < telemetry::LabelTraits<StatusClass>::kCount; ++s)
      host.requests += reading.value(telemetry::metric::placer_requests_total, snapshot_->host_labels[i],
                                     static_cast<StatusClass>(s));
    totals.push_back(std::move(host));
  }
  history_.add(now, std::chrono::system_clock::now(), totals, policy_.degraded);
}

void Placer::reload() {
  notifier_.reloading();
  reload_now();
  notifier_.ready(status_line());
}

void Placer::reload_now() {
  const config::PlacerLoadOutcome outcome = config::load_placer(config_path_);
  std::string problem;
  for (const config::Problem& each : outcome.problems) {
    const bool error = each.severity == config::Severity::Error;
    if (error && problem.empty()) problem = config::to_string(each);
    if (!error) log::warning("configuration", {{"problem", config::to_string(each)}});
  }
  // Whatever can fail is done before anything changes: all or nothing.
  SnapshotPtr made;
  if (outcome.config) {
    const auto fixed = config::placer_needing_restart(*snapshot_->config, *outcome.config);
    if (fixed.empty()) {
      made = make_snapshot(outcome.config, problem);
    } else {
      problem = "a restart is needed: " + fixed.front();
    }
  }
  metrics_->count(telemetry::metric::reloads_total,
                  made != nullptr ? telemetry::OkOrFailed::Ok : telemetry::OkOrFailed::Failed);
  if (made == nullptr) {
    log::error("reload failed",
               {{"file", config_path_},
                {"reason", problem},
                {"hint", "the configuration in use was kept; sluice check lists every problem"}});
    return;
  }
  snapshot_ = std::move(made);
  const auto& options = snapshot_->options();
  if (const auto done =
          log::configure(log::settings_of(options.log_level, options.log_format, options.log_file));
      !done)
    log::error("the log stays where it was",
               {{"file", options.log_file}, {"reason", done.error().code.message()}});
  const std::string& profile_path = snapshot_->options().profile_path;
  if (profile_path.empty()) {
    reader_ = nullptr;
    knowledge_.profile.reset();
    knowledge_.profile_problem.clear();
  } else if (reader_ == nullptr || reader_->path() != profile_path) {
    reader_ = std::make_unique<shm::ProfileReader>(profile_path);
    knowledge_.profile.reset();
  }
  prober_->configure(snapshot_);
  read_profile();
  look_at_calibration();
  publish();
  log::info("reloaded", {{"file", config_path_}});
}

void Placer::read_profile() {
  if (reader_ == nullptr) return;
  auto read = reader_->read();
  if (read) {
    knowledge_.profile = *std::move(read);
    knowledge_.profile_problem =
        distrust(*knowledge_.profile, snapshot_->options(), std::chrono::steady_clock::now());
    return;
  }
  // A writer in the middle of a record is no reason to forget what was read before; its age decides.
  if (knowledge_.profile && read.error().code == profile::ProfileErrc::Busy) return;
  knowledge_.profile.reset();
  knowledge_.profile_problem = shm::profile_problem(reader_->path(), read.error());
}

// Begun late, where a predecessor had the copy; it has it until it has handed over.
void Placer::look_at_mirror() {
  const bool following = succession_.clients() != nullptr;
  if (mirror_ || following || served_by_ != service::ServedBy::Us) return;
  std::string problem;
  if (!open_mirror(initial_->options, problem))
    return log::warning("the profile is not mirrored", {{"reason", problem}});
  if (mirror_) mirror_->start();
}

void Placer::look_at_calibration() {
  using News = calibration::CalibrationWatch::News;
  const News news = calibration_watch_.look(snapshot_->options().calibration_file);
  knowledge_.calibration = calibration_watch_.calibration();
  knowledge_.calibration_problem = calibration_watch_.problem();
  if (news == News::Read)
    log::info("calibration read", {{"file", snapshot_->options().calibration_file},
                                   {"hosts", knowledge_.calibration->hosts.size()},
                                   {"routes", knowledge_.calibration->routes.size()}});
  if (news == News::Missing) log::warning("no calibration", {{"reason", knowledge_.calibration_problem}});
  if (news == News::Broken)
    log::error("the calibration is not used", {{"reason", knowledge_.calibration_problem}});
}

void Placer::publish() {
  const auto now = std::chrono::steady_clock::now();
  knowledge_.hosts = prober_->reports();
  view_ = std::make_shared<const View>(make_view(snapshot_, knowledge_, now));
  for (const auto& worker : workers_)
    worker->replace_view(view_, telemetry_->extents());
  PolicyState state = policy_state(*view_, knowledge_);
  const bool changed = state.summary != policy_.summary;
  policy_ = std::move(state);
  if (!changed) return;
  const std::string reason = policy_.reasons.empty() ? "" : policy_.reasons.front();
  if (policy_.degraded) {
    log::warning("policy", {{"followed", policy_.summary}, {"reason", reason}});
  } else {
    log::info("policy", {{"followed", policy_.summary}});
  }
}

asio::awaitable<void> Placer::decide() {
  co_await asio::this_coro::throw_if_cancelled(false);
  remember_requests();  // that there were none yet
  while (!stopped_) {
    decide_timer_.expires_after(snapshot_->options().decision_interval);
    co_await decide_timer_.async_wait(kAwait);
    if (stopped_) co_return;
    look_at_mirror();
    read_profile();
    look_at_calibration();
    publish();
    remember_requests();
    notifier_.status(status_line());
    log::settle_repeats();
  }
}

void Placer::host_checked(const HostState& host, bool ok, bool changed) {
  const auto found = std::find_if(snapshot_->hosts.begin(), snapshot_->hosts.end(),
                                  [&](const HostPtr& h) { return h.get() == &host; });
  if (found == snapshot_->hosts.end()) return;
  const telemetry::HostLabel label =
      snapshot_->host_labels[static_cast<std::size_t>(found - snapshot_->hosts.begin())];
  metrics_->count(telemetry::metric::placer_health_checks_total, label,
                  ok ? telemetry::OkOrFailed::Ok : telemetry::OkOrFailed::Failed);
  if (!changed) return;
  metrics_->count(telemetry::metric::placer_host_changes_total, label);
  const bool up = host.up.load(std::memory_order_relaxed);
  if (up) {
    log::info("compute host up", {{"host", host.name}});
  } else {
    log::warning("compute host down", {{"host", host.name}});
  }
}

}  // namespace sluice::placer
