#pragma once

#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <asio/awaitable.hpp>
#include <asio/io_context.hpp>
#include <asio/signal_set.hpp>
#include <asio/steady_timer.hpp>

#include "admin/http_admin.h"
#include "admin/router_view.h"
#include "calibration/calibration_watch.h"
#include "cluster/dns_watch.h"
#include "cluster/monitor.h"
#include "cluster/patroni_watch.h"
#include "cluster/primary_finder.h"
#include "config/config.h"
#include "net/task_group.h"
#include "profile/contents.h"
#include "router/route_watch.h"
#include "router/server_directory.h"
#include "router/shared.h"
#include "router/snapshot.h"
#include "router/stats_period.h"
#include "router/telemetry_names.h"
#include "router/topology.h"
#include "router/trace_recorder.h"
#include "router/view.h"
#include "router/weight_holder.h"
#include "router/worker.h"
#include "service/loop_watch.h"
#include "service/notifier.h"
#include "service/succession.h"
#include "shm/profile_writer.h"
#include "telemetry/registry.h"

namespace sluice::router {

// Copies for those who look on from other threads.
struct ClusterFacts {
  std::shared_ptr<const config::Config> file;
  Topology topology;
  cluster::PrimaryFinder::Status primary;
  cluster::PatroniWatch::Status patroni;
  std::map<std::string, cluster::DnsWatch::Known> names;
};

// The whole router in one process: worker threads with the sessions, and a control thread (the caller of
// run()) with signals, health checks, auth_query, reload and the HTTP admin.
class Router {
 public:
  Router(std::string config_path, std::shared_ptr<const config::Config> config,
         service::Succession::Plan succession);
  Router(const Router&) = delete;
  Router& operator=(const Router&) = delete;
  ~Router();

  // Opens the listening sockets and everything else that can fail. On an error, a sentence that says what and
  // why.
  std::optional<std::string> open();
  // Serves until a signal or SHUTDOWN ends it, or a takeover comes to nothing. Returns the exit code.
  int run();
  // Begins the shutdown, from any thread; run() then returns.
  void request_shutdown(admin::ShutdownMode mode);

  // For the views; any thread unless said otherwise.
  Shared& shared() noexcept { return *shared_; }
  const Shared& shared() const noexcept { return *shared_; }
  const telemetry::Registry& telemetry() const noexcept { return *telemetry_; }
  SnapshotPtr snapshot() const;
  asio::io_context& control() noexcept { return control_; }
  admin::StateRow state() const;
  std::optional<cluster::ServerHealth> health(const std::string& server) const;
  // Who publishes, as of now; contents are profile_contents()'s business.
  profile::Publication publication() const;
  // On the control thread.
  std::vector<admin::RouteRow> route_rows() const;
  // As of the last second.
  std::vector<profile::Route> routes() const;
  // The averages of the last stats_period, beside totals as of now.
  void fill_averages(std::vector<admin::StatsRow>& rows) const;
  std::shared_ptr<const calibration::Calibration> calibration() const;  // null: none
  // What is known of where the servers are, as of the last change.
  ClusterFacts cluster_facts() const;
  // Whether sessions can be sent to a primary, by what is known of it.
  bool primary_up() const;
  // On the control thread: all or nothing; see admin::RouterView::reload.
  admin::CommandResult reload();
  admin::CommandResult set_option(const std::string& key, const std::string& value);
  // A command over HTTP. On the control thread.
  void command_refused(std::string_view command, admin::CommandRefusal why, const std::string& peer);

 private:
  asio::awaitable<void> handle_reload_signals();
  asio::awaitable<void> handle_end_signals();
  asio::awaitable<void> sweep();
  admin::CommandResult reload_now();
  // router_sizes.cc
  void look_at_sizes();
  void sample_sizes(telemetry::Samples& samples) const;
  void look_at_routes();
  void look_at_stats();
  void look_at_weight();
  bool take_recorded(const RecordedBatch& batch);
  void configure_recording(const config::Config& config);
  asio::awaitable<void> drain();
  // router_service.cc
  void begin_service();
  std::string status_line() const;
  bool begin_succession();
  service::TakeoverPoint::Sockets sockets_for_successor();
  void own_socket_files(bool own);
  void called_off();
  void handed_over(pid_t successor);
  asio::awaitable<void> leave_to_successor();
  bool drained() const;
  // router_profile.cc
  asio::awaitable<void> publish_profile();
  void publish_now();
  void look_at_calibration(const std::string& path);
  RoundTrips round_trips_by_host(const profile::Contents& contents) const;
  // A configuration of the file, changed or not, with all that hangs on it.
  void take_in(std::shared_ptr<const config::Config> config, Materials materials);
  // `effective` is made of file_config_ and topology_.
  void apply(std::shared_ptr<const config::Config> effective, Materials materials);
  void watch_servers();
  // router_cluster.cc
  void find_servers();
  void configure_sources(const Materials& materials);
  void topology_changed();
  void patroni_answered(const cluster::ClusterView& view);
  void patroni_failed();
  void dns_answered(bool answered, bool changed);
  void hold_back(const std::vector<cluster::MonitoredServer>& servers);
  void watch_primary(const cluster::ServerHealth& health, bool answered);
  void primary_found();
  void seek_primary();
  void follow_primary(const Snapshot& made);
  void leave_primary(protocol::ErrorFields why, telemetry::CloseReason cause);
  // Of the one primary that the file names, by an answer of its own.
  void primary_is_in_recovery(bool in_recovery);
  void sample_cluster(telemetry::Samples& samples) const;
  void publish_cluster();
  void server_changed(const cluster::ServerHealth& health);
  telemetry::ServerLabel label_of(const cluster::ServerHealth& health) const;
  void sample(telemetry::Samples& samples) const;
  void sample_round_trips(const telemetry::Names& names, telemetry::Samples& samples) const;

  const std::string config_path_;
  const std::shared_ptr<const config::Config> initial_;
  const std::chrono::system_clock::time_point started_ = std::chrono::system_clock::now();
  const std::chrono::steady_clock::time_point started_steady_ = std::chrono::steady_clock::now();
  std::array<std::byte, 32> mock_secret_{};
  asio::io_context control_{1};

  mutable std::mutex mutex_;  // of the next six
  SnapshotPtr snapshot_;
  ClusterFacts cluster_facts_;
  std::chrono::system_clock::time_point loaded_ = started_;
  std::vector<profile::Route> routes_;
  StatsPeriod stats_period_{started_steady_};
  std::map<std::string, cluster::ServerHealth> health_;  // by the server's name

  // Where the servers are; on the control thread.
  std::shared_ptr<const config::Config> file_config_;  // as loaded; the snapshot's is the effective one
  Topology topology_;
  cluster::PrimaryFinder primary_finder_;
  std::optional<ServerEndpoint> last_primary_;  // sessions for the primary are here and nowhere else

  std::uint64_t publications_ = 0;
  std::shared_ptr<const calibration::Calibration> calibration_;

  TelemetryNames names_;
  std::unique_ptr<Admission> admission_;
  WeightHolder weight_holder_;
  int sweeps_ = 0;
  std::unique_ptr<telemetry::Registry> telemetry_;
  telemetry::ThreadMetrics* control_metrics_ = nullptr;  // the control thread's, owned by the registry
  std::unique_ptr<RouteWatch> route_watch_;
  std::map<std::optional<policy::ClassId>, bool> sizes_known_;  // by pool, as the log has it
  std::unique_ptr<TraceRecorder> trace_recorder_;
  bool control_ended_ = false;  // nothing that is posted to it runs any more
  std::unique_ptr<ServerDirectory> directory_;
  std::unique_ptr<Shared> shared_;
  std::unique_ptr<View> view_;
  std::unique_ptr<cluster::HealthMonitor> monitor_;
  cluster::PatroniWatch patroni_;
  cluster::DnsWatch dns_;
  std::unique_ptr<admin::HttpAdmin> http_;
  asio::signal_set reload_signals_;
  asio::signal_set end_signals_;
  asio::steady_timer sweep_timer_;
  asio::steady_timer profile_timer_;
  calibration::CalibrationWatch calibration_watch_;
  std::optional<shm::ProfileWriter> profile_writer_;
  std::string profile_problem_;  // that was logged last
  service::Notifier notifier_ = service::Notifier::from_environment();
  std::unique_ptr<service::LoopWatch> loop_watch_;  // null where no service manager asks for it
  service::Succession succession_;
  service::ServedBy served_by_ = service::ServedBy::Us;  // another: only the sessions that are here go on
  bool lingering_ = false;                               // handed over, and not told to end since
  bool end_signalled_ = false;
  std::chrono::steady_clock::time_point drain_until_{};
  admin::ShutdownMode shutdown_mode_ = admin::ShutdownMode::WaitForClients;
  bool stopped_ = false;
  int exit_code_ = 0;
  net::TaskGroup tasks_;
};

}  // namespace sluice::router
