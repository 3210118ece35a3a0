#include "router/router.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include <asio/co_spawn.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/experimental/as_tuple.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include "config/match.h"
#include "http/host_check.h"
#include "router/derive.h"
#include "router/random.h"
#include "router/telemetry_names.h"
#include "router/version.h"
#include "service/held_signals.h"
#include "service/takeover_channel.h"
#include "telemetry/log_settings.h"

namespace sluice::router {
namespace {

std::size_t thread_count(const config::Options& options) {
  return options.threads > 0 ? options.threads : std::max(1u, std::thread::hardware_concurrency());
}

}  // namespace

Router::Router(std::string config_path, std::shared_ptr<const config::Config> config,
               service::Succession::Plan succession)
    : config_path_(std::move(config_path)),
      initial_(std::move(config)),
      file_config_(initial_),
      patroni_(
          control_.get_executor(), [this](const cluster::ClusterView& view) { patroni_answered(view); },
          [this] { patroni_failed(); }),
      dns_(control_.get_executor(), [this](bool answered, bool changed) { dns_answered(answered, changed); }),
      reload_signals_(control_),
      end_signals_(control_),
      sweep_timer_(control_),
      profile_timer_(control_),
      succession_(control_.get_executor(), std::move(succession), service::kRouterTakeover,
                  {[this] { return sockets_for_successor(); }, [this] { called_off(); },
                   [this](pid_t successor) { handed_over(successor); }}),
      tasks_(control_.get_executor()) {
  random_bytes(mock_secret_);
}

Router::~Router() = default;

std::optional<std::string> Router::open() {
  const config::Options& options = initial_->options;
  if (const auto done =
          log::configure(log::settings_of(options.log_level, options.log_format, options.log_file));
      !done)
    return "cannot open the log: " + done.error().code.message();
  // From here on they wait for run(): whoever finds us listening may send one.
  for (const int signal : {SIGHUP, SIGUSR1, SIGUSR2})
    reload_signals_.add(signal);
  for (const int signal : {SIGTERM, SIGINT, SIGQUIT})
    end_signals_.add(signal);
  std::string problem;
  std::optional<Materials> materials = load_materials(*initial_, mock_secret_, problem);
  if (!materials) return problem;
  const auto effective = effective_config(file_config_, topology_);
  admission_ = std::make_unique<Admission>(config::pool_config(*effective), admission_limits(effective));
  admission_->set_search_due([this] { asio::post(control_, [this] { admission_->search_sizes(); }); });
  weight_holder_.configure(*effective, *admission_);
  telemetry_ = std::make_unique<telemetry::Registry>(names_.update(*effective, *admission_));
  control_metrics_ = &telemetry_->add_thread();
  const SnapshotPtr snapshot =
      make_snapshot(effective, *std::move(materials), *admission_, names_, mock_secret_);
  snapshot_ = snapshot;
  hold_back(monitored_servers(*snapshot, *file_config_, topology_));
  directory_ = std::make_unique<ServerDirectory>(control_, *snapshot, *control_metrics_);
  shared_ = std::make_unique<Shared>(*admission_, *directory_);
  shared_->size_book.set_entries_max(options.size_table_entries);
  shared_->server_failed = [this](ServerId server, std::string) {
    asio::post(control_, [this, server, name = this->snapshot()->server_name(server)] {
      monitor_->session_failed(name);
      if (server == kPrimary) seek_primary();
    });
  };
  route_watch_ = std::make_unique<RouteWatch>(*telemetry_, *control_metrics_, options.route_labels_max,
                                              options.trace_idle_timeout);
  shared_->calls_finished = [this](trace::CallBatch batch) {
    if (!route_watch_->accepts()) return false;
    asio::post(control_, [this, batch = std::move(batch)] {
      route_watch_->take(batch, std::chrono::steady_clock::now());
    });
    return true;
  };
  trace_recorder_ = std::make_unique<TraceRecorder>(mock_secret_);
  shared_->recorded = [this](RecordedBatch batch) {
    if (!trace_recorder_->accepts()) return false;
    if (control_ended_) return take_recorded(batch);
    asio::post(control_, [this, batch = std::move(batch)] { take_recorded(batch); });
    return true;
  };
  for (std::size_t i = 0; i < thread_count(options); ++i)
    shared_->workers.push_back(
        std::make_unique<Worker>(*shared_, static_cast<unsigned>(i), snapshot, telemetry_->add_thread()));
  if (auto failure = succession_.find_predecessor()) return failure;
  shared_->predecessor_cancels = succession_.cancel_paths();
  const Worker* first = nullptr;
  for (const auto& worker : shared_->workers) {
    if (!worker->listen(first, succession_.clients(), problem)) return problem;
    if (first == nullptr) first = worker.get();
  }

  view_ = std::make_unique<View>(*this, control_.get_executor());
  if (options.admin_port > 0) {
    admin::HttpAdmin::Settings http;
    http.address = options.admin_addr;
    http.port = static_cast<std::uint16_t>(options.admin_port);
    http.inherited = succession_.admin();
    http.own_host = [this, address = options.admin_addr](std::string_view host, http::ListensAt at) {
      return http::is_own_host(host, at, address, this->snapshot()->options().admin_names);
    };
    http_ = std::make_unique<admin::HttpAdmin>(
        control_.get_executor(), std::move(http), *view_, [this] { return telemetry_->exposition(); },
        [this] { return this->snapshot()->config->passwords.admin_token; });
    if (!http_->start(problem)) return problem;
  }
  telemetry_->add_sampler([this](telemetry::Samples& samples) { sample(samples); });
  return std::nullopt;
}

int Router::run() {
  // Of a log that nobody reads any more; sockets do not raise it.
  std::signal(SIGPIPE, SIG_IGN);
  watch_servers();
  configure_recording(*snapshot()->config);
  for (const auto& worker : shared_->workers)
    worker->start(std::make_unique<View>(*this, worker->context().get_executor()));
  tasks_.spawn("reload signals", handle_reload_signals());
  tasks_.spawn("end signals", handle_end_signals());
  tasks_.spawn("sweep", sweep());
  tasks_.spawn("profile", publish_profile());
  log::info("ready", {{"version", kVersion},
                      {"threads", shared_->workers.size()},
                      {"replicas", snapshot()->config->replicas.size()},
                      {"policy", config::word_of(snapshot()->options().policy)}});
  if (begin_succession()) begin_service();
  control_.run();
  for (const auto& worker : shared_->workers)
    worker->join();
  // Twice: the questions, then the answers to them.
  for (int round = 0; round < 2; ++round)
    for (const auto& worker : shared_->workers)
      worker->run_leftovers();
  control_ended_ = true;
  service::hold_back_signals();
  for (const auto& worker : shared_->workers)
    worker->recording().hand_over();
  trace_recorder_->close();
  log::info("stopped");
  return exit_code_;
}

SnapshotPtr Router::snapshot() const {
  const std::lock_guard lock(mutex_);
  return snapshot_;
}

void Router::watch_servers() {
  monitor_ = std::make_unique<cluster::HealthMonitor>(
      control_.get_executor(), [this](const cluster::ServerHealth& health) { server_changed(health); },
      [this](const cluster::ServerHealth& health, bool ok) {
        control_metrics_->count(telemetry::metric::health_probes_total, label_of(health),
                                ok ? telemetry::OkOrFailed::Ok : telemetry::OkOrFailed::Failed);
        {
          const std::lock_guard lock(mutex_);
          health_.insert_or_assign(health.name, health);
        }
        if (const auto replica = admission_->find_replica(health.name);
            replica && health.role != cluster::ServerRole::Primary)
          shared_->replay_positions.set(*replica, ok && health.status.up ? health.replayed : std::nullopt);
        watch_primary(health, ok);
      });
  find_servers();
}

telemetry::ServerLabel Router::label_of(const cluster::ServerHealth& health) const {
  if (health.role == cluster::ServerRole::Primary) return telemetry::ServerLabel::primary();
  const auto id = admission_->find_replica(health.name);
  return id ? telemetry::ServerLabel(*id) : telemetry::ServerLabel::primary();
}

void Router::server_changed(const cluster::ServerHealth& health) {
  bool news = true;  // or it is so behind a bar alone
  {
    const std::lock_guard lock(mutex_);
    const auto before = health_.find(health.name);
    if (before != health_.end()) news = !(before->second.status == health.status);
    health_.insert_or_assign(health.name, health);
  }
  if (news) control_metrics_->count(telemetry::metric::health_changes_total, label_of(health));
  if (health.role == cluster::ServerRole::Candidate) return;  // watch_primary()'s business
  // A check that fails says nothing of recovery.
  const bool in_recovery = health.status.reason == cluster::DownReason::InRecovery;
  if (health.role == cluster::ServerRole::Primary && (in_recovery || health.status.up))
    primary_is_in_recovery(in_recovery);
  const auto replica = admission_->find_replica(health.name);
  const ServerId server =
      health.role == cluster::ServerRole::Primary || !replica ? kPrimary : ServerId(replica->value());
  if (server != kPrimary) admission_->set_up(*replica, health.status.up);
  if (health.status.up) return;
  shared_->drop_servers(server);
  if (!is_unreachable(health.probed.reason)) return;
  // Whoever waits for a server that answers nothing any more would wait for ever.
  const auto on_server = [server](const Session& session) { return session.on_server(server); };
  for (const auto& worker : shared_->workers)
    worker->end_sessions(on_server, server_is_gone(), telemetry::CloseReason::ReplicaDown);
}

void Router::sample(telemetry::Samples& samples) const {
  using namespace telemetry;
  const policy::Snapshot pools = admission_->snapshot();
  for (const policy::ReplicaSnapshot& replica : pools.replicas) {
    samples.set(metric::replica_up, replica.up ? 1 : 0, replica.id);
    samples.set(metric::replica_draining, replica.draining ? 1 : 0, replica.id);
    samples.set(metric::replica_in_pool, 1, replica.id, PoolLabel(replica.pool));
    samples.set(metric::replica_borrowed, replica.borrowed ? 1 : 0, replica.id);
  }
  std::map<std::string, cluster::ServerHealth> known;
  {
    const std::lock_guard lock(mutex_);
    known = health_;
  }
  const auto seconds = [](auto duration) { return std::chrono::duration<double>(duration).count(); };
  for (const auto& [name, health] : known) {
    if (health.role == cluster::ServerRole::Candidate) continue;  // has no label of its own
    const ServerLabel server = label_of(health);
    if (health.role == cluster::ServerRole::Primary)
      samples.set(metric::replica_up, health.status.up ? 1 : 0, server);
    if (health.lag_bytes)
      samples.set(metric::replica_lag_bytes, static_cast<double>(*health.lag_bytes), server);
    if (health.lag) samples.set(metric::replica_lag_seconds, seconds(*health.lag), server);
    if (health.timeline) samples.set(metric::replica_timeline, static_cast<double>(*health.timeline), server);
    if (health.probe_times.count() == 0) continue;
    samples.set(metric::replica_probe_seconds, seconds(health.probe_times.last()), server,
                ProbeStatistic::Last);
    samples.set(metric::replica_probe_seconds, seconds(health.probe_times.median()), server,
                ProbeStatistic::Median);
    samples.set(metric::replica_probe_seconds, seconds(health.probe_times.minimum()), server,
                ProbeStatistic::Minimum);
    samples.set(metric::replica_probe_seconds, seconds(health.probe_times.ewma()), server,
                ProbeStatistic::Ewma);
  }
  sample_cluster(samples);
  const auto sessions = admission_->sessions_by_host();
  const std::shared_ptr<const Names> names = telemetry_->names();
  sample_round_trips(*names, samples);
  for (std::uint32_t i = 0; i < names->hosts.size(); ++i) {
    const std::string& name = names->hosts[i];
    const auto found = sessions.find(name == TelemetryNames::kOtherHost ? "" : name);
    samples.set(metric::host_sessions, found == sessions.end() ? 0.0 : static_cast<double>(found->second),
                HostLabel(i));
  }
  route_watch_->sample(samples);
  sample_sizes(samples);
  std::map<ServerId, std::size_t> idle;
  for (const auto& [id, server] : snapshot()->servers)
    idle[id] = 0;
  for (const ServerPool::IdleInfo& i : shared_->pool.snapshot())
    ++idle[i.server];
  for (const auto& [id, count] : idle)
    samples.set(metric::server_connections_idle, static_cast<double>(count),
                id == kPrimary ? ServerLabel::primary() : ServerLabel(policy::ReplicaId(id.value())));
  const std::vector<policy::BudgetState> budgets = admission_->budgets();
  for (std::uint32_t i = 0; i < budgets.size() && i < names->budgets.size(); ++i) {
    const telemetry::BudgetLabel label(i);
    samples.set(metric::budget_active, static_cast<double>(budgets[i].active), label);
    samples.set(metric::budget_waiting, static_cast<double>(budgets[i].waiting), label);
    samples.set(metric::budget_busy, budgets[i].busy, label);
  }
  samples.set(metric::log_lines_suppressed, static_cast<double>(log::suppressed_lines()));
  samples.set(metric::threads, static_cast<double>(shared_->workers.size()));
}

std::vector<admin::RouteRow> Router::route_rows() const {
  const SnapshotPtr current = snapshot();
  return route_watch_->rows([&](policy::ClassId id) { return current->class_name(id); },
                            std::chrono::steady_clock::now());
}

std::vector<profile::Route> Router::routes() const {
  const std::lock_guard lock(mutex_);
  return routes_;
}

void Router::look_at_routes() {
  route_watch_->tick(std::chrono::steady_clock::now());
  const SnapshotPtr current = snapshot();
  std::vector<profile::Route> routes =
      route_watch_->routes([&](policy::ClassId id) { return current->class_name(id); });
  const std::lock_guard lock(mutex_);
  routes_ = std::move(routes);
}

std::optional<cluster::ServerHealth> Router::health(const std::string& server) const {
  const std::lock_guard lock(mutex_);
  const auto found = health_.find(server);
  return found == health_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace sluice::router
