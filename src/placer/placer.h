#pragma once

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

#include "calibration/calibration_watch.h"
#include "config/placer_config.h"
#include "http/page_server.h"
#include "mirror/mirror.h"
#include "net/task_group.h"
#include "placer/pages.h"
#include "placer/planner.h"
#include "placer/prober.h"
#include "placer/request_history.h"
#include "placer/shared.h"
#include "placer/snapshot.h"
#include "placer/worker.h"
#include "service/loop_watch.h"
#include "service/notifier.h"
#include "service/succession.h"
#include "shm/profile_reader.h"
#include "telemetry/registry.h"

namespace sluice::placer {

// The whole placer in one process: worker threads with the requests, and a control thread (the caller of
// run()) with signals, health checks, measuring, decisions for all routes, reload and the HTTP admin.
class Placer {
 public:
  Placer(std::string config_path, std::shared_ptr<const config::PlacerConfig> config,
         service::Succession::Plan succession);
  Placer(const Placer&) = delete;
  Placer& operator=(const Placer&) = delete;
  ~Placer();

  // Opens the listening sockets and everything else that can fail. On an error, a sentence that says what and
  // why.
  std::optional<std::string> open();
  // Serves until a signal ends it, or a takeover comes to nothing. Returns the exit code.
  int run();

 private:
  asio::awaitable<void> handle_reload_signals();
  asio::awaitable<void> handle_end_signals();
  asio::awaitable<void> begin();
  asio::awaitable<void> decide();
  asio::awaitable<void> drain();
  // placer_service.cc
  void begin_service();
  bool begin_succession();
  void own_socket_files(bool own);
  service::TakeoverPoint::Sockets sockets_for_successor();
  void called_off();
  void handed_over(pid_t successor);
  void linger(std::chrono::steady_clock::time_point until);
  void end(std::chrono::milliseconds patience);
  std::string status_line() const;
  asio::awaitable<http::Page> answer(http::PageRequest request);
  const http::Page& overview();

  // The configuration with all that is made from it; null with a reason in `problem`.
  SnapshotPtr make_snapshot(std::shared_ptr<const config::PlacerConfig> config, std::string& problem);
  bool open_mirror(const config::PlacerOptions& options, std::string& problem);
  void reload();
  void reload_now();
  void read_profile();
  void look_at_mirror();
  void look_at_calibration();
  void publish();
  void host_checked(const HostState& host, bool ok, bool changed);
  void sample(telemetry::Samples& samples);
  AdminFacts facts() const;
  void remember_requests();
  telemetry::Names names_with(const config::PlacerConfig& config);

  const std::string config_path_;
  const std::shared_ptr<const config::PlacerConfig> initial_;
  asio::io_context control_{1};
  Shared shared_;
  SnapshotPtr snapshot_;
  ViewPtr view_;
  std::unique_ptr<mirror::Mirror> mirror_;  // of a router on another machine
  std::unique_ptr<shm::ProfileReader> reader_;
  calibration::CalibrationWatch calibration_watch_;
  Knowledge knowledge_;
  PolicyState policy_;
  RequestHistory history_;
  http::Page overview_;  // as of overview_made_
  std::chrono::steady_clock::time_point overview_made_{};
  // Names of label values keep their places across reloads.
  std::vector<std::string> host_names_, route_names_;
  std::unique_ptr<telemetry::Registry> telemetry_;
  telemetry::ThreadMetrics* metrics_ = nullptr;  // the control thread's, owned by the registry
  std::vector<std::unique_ptr<Worker>> workers_;
  std::unique_ptr<Prober> prober_;
  std::unique_ptr<http::PageServer> admin_;
  service::Notifier notifier_ = service::Notifier::from_environment();
  std::unique_ptr<service::LoopWatch> loop_watch_;  // null where no service manager asks for it
  asio::signal_set reload_signals_, end_signals_;
  asio::steady_timer decide_timer_;
  service::Succession succession_;
  std::chrono::steady_clock::time_point drain_until_{};
  bool shutting_down_ = false;
  service::ServedBy served_by_ = service::ServedBy::Us;  // another: only the connections that are here go on
  bool lingering_ = false;                               // another serves, and not told to end since
  bool stopped_ = false;
  int exit_code_ = 0;
  net::TaskGroup tasks_;
};

}  // namespace sluice::placer
