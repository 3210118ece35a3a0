// What the service manager is told, and how one process follows another.

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <asio/experimental/as_tuple.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>
#include <unistd.h>

#include "router/router.h"
#include "service/signs_of_life.h"
#include "service/successor.h"
#include "telemetry/log.h"

namespace sluice::router {
namespace {

using namespace std::chrono_literals;

constexpr auto kLingerPoll = 500ms;

std::string cancel_path(const std::string& path) {
  return path + ".cancel." + std::to_string(::getpid());
}

}  // namespace

void Router::begin_service() {
  notifier_.ready(status_line());
  loop_watch_ =
      service::signs_of_life(notifier_, control_.get_executor(), service::loops_of(shared_->workers));
  if (loop_watch_) tasks_.spawn("loop watch", loop_watch_->run());
}

std::string Router::status_line() const {
  const policy::Snapshot pools = admission_->snapshot();
  const auto configured = std::count_if(pools.replicas.begin(), pools.replicas.end(),
                                        [](const auto& replica) { return replica.configured; });
  const auto up = std::count_if(pools.replicas.begin(), pools.replicas.end(),
                                [](const auto& replica) { return replica.configured && replica.up; });
  std::string line = shared_->shutting_down.load() ? "Shutting down: " : "";
  line += std::to_string(admission_->session_count()) + " sessions, " + std::to_string(up) + " of " +
          std::to_string(configured) + " replicas up";
  if (const SnapshotPtr current = snapshot(); current->servers.contains(kPrimary))
    line += primary_up() ? ", primary up" : ", primary down";
  return line;
}

// We accept by now. The predecessor is told to stop, and then we wait where it has waited.
void Router::begin_succession() {
  if (succession_.path.empty()) return;
  if (predecessor_) {
    if (const auto done = predecessor_->serving(); !done)
      log::warning("the former process did not let go", {{"reason", done.error().code.message()}});
    predecessor_.reset();
    for (const auto& worker : shared_->workers)
      worker->own_socket_files(true);
    if (http_) http_->own_files(true);
    log::info("took over", {{"path", succession_.path}});
  }
  takeover_point_ = std::make_unique<service::TakeoverPoint>(
      control_.get_executor(), succession_.path,
      service::TakeoverPoint::Callbacks{[this] { return sockets_for_successor(); },
                                        [this](pid_t successor) { handed_over(successor); }});
  std::string problem;
  if (!takeover_point_->start(problem)) log::error("no successor can take over", {{"reason", problem}});
}

void Router::start_successor() {
  if (succession_.path.empty() || shared_->shutting_down.load()) {
    log::warning("no successor is started",
                 {{"reason", succession_.path.empty() ? "there is no --takeover" : "shutting down"}});
    return;
  }
  const auto started = service::start_successor(succession_.command);
  if (started) {
    log::info("successor started", {{"program", succession_.command.front()}});
  } else {
    log::error("no successor is started", {{"reason", started.error().code.message()}});
  }
}

service::TakeoverPoint::Sockets Router::sockets_for_successor() const {
  service::TakeoverPoint::Sockets sockets;
  // Nobody could resume it any more.
  if (shared_->gates.any_paused()) {
    sockets.refusal = "a database is paused, RESUME it first";
    return sockets;
  }
  for (const auto& worker : shared_->workers) {
    const std::vector<int> all = worker->listening();
    sockets.clients.insert(sockets.clients.end(), all.begin(), all.end());
  }
  if (http_) sockets.admin = http_->descriptors();
  sockets.cancel_paths.push_back(cancel_path(succession_.path));
  // A process that has ended has removed its own.
  for (const std::string& path : shared_->predecessor_cancels)
    if (::access(path.c_str(), F_OK) == 0) sockets.cancel_paths.push_back(path);
  return sockets;
}

void Router::handed_over(pid_t successor) {
  handed_over_ = lingering_ = true;
  shared_->shutting_down.store(true);
  const auto limit = snapshot()->options().takeover_drain_timeout;
  drain_until_ = limit.count() > 0 ? std::chrono::steady_clock::now() + limit
                                   : std::chrono::steady_clock::time_point::max();
  log::info("taken over", {{"by", successor}, {"sessions", admission_->session_count()}});
  notifier_.hand_over_to(successor);
  profile_writer_.reset();
  for (const auto& worker : shared_->workers)
    worker->own_socket_files(false);
  if (http_) http_->own_files(false);
  shared_->workers.front()->accept_at(cancel_path(succession_.path));
  tasks_.spawn("drain", drain());
}

// Until the last connection has ended, or somebody wants an end. Console sessions are of no use here: what
// they show is elsewhere now.
asio::awaitable<void> Router::leave_to_successor() {
  const protocol::ErrorFields why{"FATAL", "57P01", "terminating connection due to administrator command", "",
                                  "Another process serves now: connect again."};
  if (http_) co_await http_->stop();
  asio::steady_timer timer(control_);
  while (lingering_ && !drained() && std::chrono::steady_clock::now() < drain_until_) {
    for (const auto& worker : shared_->workers)
      worker->end_sessions([](const Session& session) { return session.console(); }, why,
                           telemetry::CloseReason::Shutdown);
    timer.expires_after(kLingerPoll);
    co_await timer.async_wait(asio::experimental::as_tuple(asio::use_awaitable));
  }
}

// Of those who were let in; after a takeover nobody is cut off who may still become one.
bool Router::drained() const {
  if (!handed_over_) return admission_->session_count() == 0;
  return std::all_of(shared_->workers.begin(), shared_->workers.end(),
                     [](const auto& worker) { return !worker->accepting() && worker->session_count() == 0; });
}

}  // namespace sluice::router
