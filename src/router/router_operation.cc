// What a running router does beside its sessions: signals, reload, the end, and housekeeping.

#include <algorithm>
#include <csignal>
#include <utility>

#include <asio/experimental/as_tuple.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include "config/diff.h"
#include "config/set_option.h"
#include "router/derive.h"
#include "router/router.h"
#include "telemetry/log_settings.h"

namespace sluice::router {
namespace {

using namespace std::chrono_literals;

constexpr auto kSweep = 1s;
constexpr int kSweepsPerWeight = 5;
constexpr auto kDrainPoll = 50ms;

protocol::ErrorFields shutting_down() {
  return {"FATAL", "57P01", "terminating connection due to administrator command", "",
          "The router is shutting down."};
}

telemetry::CommandRefusal refusal_label(admin::CommandRefusal why) {
  switch (why) {
    case admin::CommandRefusal::Off:
      return telemetry::CommandRefusal::NoTokenConfigured;
    case admin::CommandRefusal::Foreign:
      return telemetry::CommandRefusal::ForeignPage;
    case admin::CommandRefusal::Token:
      return telemetry::CommandRefusal::Token;
    case admin::CommandRefusal::Host:
      return telemetry::CommandRefusal::Host;
  }
  return telemetry::CommandRefusal::Token;
}

}  // namespace

// Apart from the signals that end the router: those must not wait behind a row of reloads.
asio::awaitable<void> Router::handle_reload_signals() {
  co_await asio::this_coro::throw_if_cancelled(false);
  while (!stopped_) {
    const auto [ec, signal] =
        co_await reload_signals_.async_wait(asio::experimental::as_tuple(asio::use_awaitable));
    if (ec) co_return;
    if (signal == SIGUSR1) {
      if (const auto done = log::reopen(); !done)
        log::error("the log cannot be opened anew", {{"reason", done.error().code.message()}});
    } else if (signal == SIGUSR2) {
      succession_.start_successor(shared_->shutting_down.load() ? "shutting down" : "");
    } else if (!shared_->shutting_down.load()) {
      (void)reload();
    }
  }
}

asio::awaitable<void> Router::handle_end_signals() {
  co_await asio::this_coro::throw_if_cancelled(false);
  while (!stopped_) {
    const auto [ec, signal] =
        co_await end_signals_.async_wait(asio::experimental::as_tuple(asio::use_awaitable));
    if (ec) co_return;
    // The second one is meant: whoever sends it does not want to wait.
    const bool again = std::exchange(end_signalled_, true);
    const bool at_once = signal == SIGQUIT || again || (shared_->shutting_down.load() && !lingering_);
    request_shutdown(at_once ? admin::ShutdownMode::Immediate : admin::ShutdownMode::WaitForClients);
  }
}

void Router::request_shutdown(admin::ShutdownMode mode) {
  asio::post(control_, [this, mode] {
    if (mode == admin::ShutdownMode::Immediate) drain_until_ = std::chrono::steady_clock::time_point::min();
    if (mode != admin::ShutdownMode::WaitForClients) shutdown_mode_ = mode;
    if (std::exchange(lingering_, false) && mode != admin::ShutdownMode::Immediate) {
      drain_until_ = std::chrono::steady_clock::now() + snapshot()->options().drain_timeout;
      log::info("ending what was left behind", {{"sessions", admission_->session_count()},
                                                {"seconds_at_most", snapshot()->options().drain_timeout}});
    }
    if (shared_->shutting_down.exchange(true)) return;
    if (mode != admin::ShutdownMode::Immediate)
      drain_until_ = std::chrono::steady_clock::now() + snapshot()->options().drain_timeout;
    log::info("shutting down", {{"sessions", admission_->session_count()},
                                {"seconds_at_most", snapshot()->options().drain_timeout}});
    notifier_.stopping(status_line());
    tasks_.spawn("drain", drain());
  });
}

// No new clients; the sessions that are open may end by themselves until the deadline; then everything ends.
asio::awaitable<void> Router::drain() {
  co_await asio::this_coro::throw_if_cancelled(false);
  for (const auto& worker : shared_->workers)
    worker->stop_accepting();
  co_await succession_.stop();
  // It may listen where whoever serves now does.
  if (served_by_ != service::ServedBy::Us && http_) co_await http_->stop();
  if (served_by_ == service::ServedBy::Successor) co_await leave_to_successor();
  asio::steady_timer timer(control_);
  while (!drained() && std::chrono::steady_clock::now() < drain_until_) {
    if (shutdown_mode_ == admin::ShutdownMode::WaitForServers) {
      for (const auto& worker : shared_->workers)
        worker->end_sessions([](const Session& s) { return s.at_rest(); }, shutting_down(),
                             telemetry::CloseReason::Shutdown);
    }
    timer.expires_after(kDrainPoll);
    co_await timer.async_wait(asio::experimental::as_tuple(asio::use_awaitable));
  }
  if (const std::size_t left = admission_->session_count(); left > 0)
    log::warning("sessions ended by the shutdown", {{"sessions", left}});
  if (loop_watch_) loop_watch_->stop();
  for (const auto& worker : shared_->workers)
    worker->stop();
  while (shared_->workers_running.load() > 0) {
    timer.expires_after(kDrainPoll);
    co_await timer.async_wait(asio::experimental::as_tuple(asio::use_awaitable));
  }
  shared_->pool.drop_all();
  if (http_) co_await http_->stop();
  // First of all: to cancel a wait that has just been answered does nothing, and another one would follow.
  stopped_ = true;
  asio::error_code ignored;
  reload_signals_.cancel(ignored);
  end_signals_.cancel(ignored);
  co_await patroni_.stop();
  co_await dns_.stop();
  co_await monitor_->stop();
  sweep_timer_.cancel();
  profile_timer_.cancel();
}

asio::awaitable<void> Router::sweep() {
  co_await asio::this_coro::throw_if_cancelled(false);
  while (!stopped_) {
    sweep_timer_.expires_after(kSweep);
    co_await sweep_timer_.async_wait(asio::experimental::as_tuple(asio::use_awaitable));
    shared_->pool.sweep(snapshot()->pool_limits, std::chrono::steady_clock::now());
    look_at_routes();
    look_at_stats();
    look_at_sizes();
    look_at_weight();
    trace_recorder_->flush();
    notifier_.status(status_line());
    log::settle_repeats();
  }
}

void Router::look_at_stats() {
  const auto now = std::chrono::steady_clock::now();
  // Only this thread ends periods, so there is no need for the lock to look.
  if (!stats_period_.due(now, snapshot()->options().stats_period)) return;
  const std::vector<admin::StatsRow> totals = total_rows(*telemetry_);
  const std::lock_guard lock(mutex_);
  stats_period_.end(totals, now);
}

void Router::look_at_weight() {
  if (++sweeps_ % kSweepsPerWeight == 0 && weight_holder_.holds())
    weight_holder_.look(telemetry_->read(), *admission_);
}

bool Router::take_recorded(const RecordedBatch& batch) {
  trace_recorder_->take(batch, [this](policy::ReplicaId replica) {
    return snapshot()->server_name(ServerId(replica.value()));
  });
  return true;
}

void Router::configure_recording(const config::Config& config) {
  const bool on = trace_recorder_->configure(config);
  for (const auto& worker : shared_->workers)
    worker->recording().set_on(on);
}

void Router::fill_averages(std::vector<admin::StatsRow>& rows) const {
  const std::lock_guard lock(mutex_);
  stats_period_.fill_averages(rows, std::chrono::steady_clock::now());
}

admin::CommandResult Router::reload() {
  notifier_.reloading();
  admin::CommandResult result = reload_now();
  notifier_.ready(status_line());
  return result;
}

admin::CommandResult Router::reload_now() {
  config::LoadOutcome outcome = config::load(config_path_);
  admin::CommandResult result;
  for (const config::Problem& problem : outcome.problems) {
    const std::string text = config::to_string(problem);
    if (problem.severity == config::Severity::Warning) {
      result.notes.push_back(text);
    } else if (result.message.empty()) {
      result.message = text;
    } else {
      result.detail += (result.detail.empty() ? "" : "\n") + text;
    }
  }
  // Whatever can fail is done before anything changes: all or nothing.
  std::optional<Materials> materials;
  if (outcome.config) {
    const auto fixed = config::needing_restart(config::diff(*file_config_, *outcome.config));
    if (fixed.empty()) {
      materials = load_materials(*outcome.config, mock_secret_, result.message);
    } else {
      result.message = fixed.front().key + " cannot be changed while the router runs";
      for (const config::Change& change : fixed)
        result.detail += change.key + ": " + change.from + " would become " + change.to + "\n";
    }
  }
  const bool ok = materials.has_value();
  if (ok) {
    take_in(outcome.config, *std::move(materials));
    const std::lock_guard lock(mutex_);
    loaded_ = std::chrono::system_clock::now();
  }
  control_metrics_->count(telemetry::metric::reloads_total,
                          ok ? telemetry::OkOrFailed::Ok : telemetry::OkOrFailed::Failed);
  if (!ok) {
    result.sqlstate = "F0000";
    result.hint =
        "The configuration in use was kept. `sluice check -c " + config_path_ + "` lists every problem.";
    log::error("reload failed", {{"file", config_path_}, {"reason", result.message}});
    return result;
  }
  log::info("reloaded", {{"file", config_path_}});
  return result;
}

void Router::command_refused(std::string_view command, admin::CommandRefusal why, const std::string& peer) {
  const telemetry::CommandRefusal reason = refusal_label(why);
  control_metrics_->count(telemetry::metric::admin_commands_refused_total, reason);
  log::warning("command refused",
               {{"command", command}, {"reason", telemetry::label_value(reason)}, {"peer", peer}});
}

void Router::take_in(std::shared_ptr<const config::Config> config, Materials materials) {
  const std::shared_ptr<const config::Config> before = std::exchange(file_config_, std::move(config));
  // What was heard of one server says nothing of another.
  if (!names_same_primary(*before, *file_config_)) topology_.primary_in_recovery = false;
  configure_sources(materials);
  apply(effective_config(file_config_, topology_), std::move(materials));
  directory_->reconfigure(*snapshot());
  shared_->refused_logins.clear();
  publish_cluster();
}

admin::CommandResult Router::set_option(const std::string& key, const std::string& value) {
  using Refusal = config::SetOutcome::Refusal;
  config::SetOutcome outcome = config::with_option(*file_config_, key, value);
  admin::CommandResult result;
  std::optional<Materials> materials;
  if (outcome.config) {
    materials = load_materials(*outcome.config, mock_secret_, result.message);
  } else {
    result.message = std::move(outcome.message);
    result.hint = std::move(outcome.hint);
  }
  if (!materials) {
    result.sqlstate = outcome.refusal == Refusal::UnknownKey     ? "42704"
                      : outcome.refusal == Refusal::NeedsRestart ? "55P02"
                                                                 : "22023";
    return result;
  }
  for (const config::Problem& warning : outcome.warnings)
    result.notes.push_back(config::to_string(warning));
  take_in(outcome.config, *std::move(materials));
  log::info("option set", {{"key", key}});
  return result;
}

void Router::apply(std::shared_ptr<const config::Config> effective, Materials materials) {
  const SnapshotPtr old = snapshot();
  admission_->reconfigure(config::pool_config(*effective), admission_limits(effective));
  shared_->size_book.set_entries_max(effective->options.size_table_entries);
  weight_holder_.configure(*effective, *admission_);
  configure_recording(*effective);
  telemetry_->set_names(names_.update(*effective, *admission_));
  const SnapshotPtr made = make_snapshot(effective, std::move(materials), *admission_, names_, mock_secret_);
  const auto& options = made->options();
  if (const auto done =
          log::configure(log::settings_of(options.log_level, options.log_format, options.log_file));
      !done)
    log::error("the log stays where it was",
               {{"file", options.log_file}, {"reason", done.error().code.message()}});
  std::vector<cluster::MonitoredServer> servers = monitored_servers(*made, *file_config_, topology_);
  hold_back(servers);
  {
    const std::lock_guard lock(mutex_);
    snapshot_ = made;
  }
  control_metrics_->fit(telemetry_->extents());
  route_watch_->set_idle(made->options().trace_idle_timeout);
  for (const auto& worker : shared_->workers)
    worker->replace_snapshot(made, telemetry_->extents());
  // Sessions on replicas that are gone or have moved go on; nobody follows them there.
  for (const auto& [id, server] : old->servers) {
    const auto kept = made->servers.find(id);
    if (kept == made->servers.end() || !kept->second.same_connections(server)) shared_->drop_servers(id);
  }
  follow_primary(*made);
  directory_->follow(*made);
  std::vector<std::string> hosts;
  for (const config::OriginHost& host : made->config->hosts)
    hosts.push_back(host.name);
  shared_->client_legs.keep_only(hosts);
  profile_timer_.cancel();  // publishes at once what has changed
  monitor_->configure(std::move(servers), monitor_settings(options));
}

admin::StateRow Router::state() const {
  admin::StateRow row;
  row.shutting_down = shared_->shutting_down.load();
  row.paused = shared_->gates.all_paused();
  row.started = started_;
  {
    const std::lock_guard lock(mutex_);
    row.config_loaded = loaded_;
  }
  row.ready = !row.shutting_down && (admission_->any_live() || primary_up());
  if (row.shutting_down) {
    row.reason = "shutting down";
  } else if (!row.ready) {
    const policy::Snapshot pools = admission_->snapshot();
    const bool drained = std::any_of(pools.replicas.begin(), pools.replicas.end(),
                                     [](const auto& r) { return r.up && r.configured && r.draining; });
    row.reason = drained ? "every replica that is alive is draining" : "no server is alive";
  }
  return row;
}

}  // namespace sluice::router
