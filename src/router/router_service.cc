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
#include "telemetry/log.h"

namespace sluice::router {
namespace {

using namespace std::chrono_literals;

constexpr auto kLingerPoll = 500ms;

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

// We accept by now. False: the former process goes on, and this one is no service.
bool Router::begin_succession() {
  const service::Succession::Begun begun = succession_.begin();
  if (begun == service::Succession::Begun::TookOver) own_socket_files(true);
  if (begun != service::Succession::Begun::CalledOff) return true;
  served_by_ = service::ServedBy::Predecessor;
  notifier_ = service::Notifier();
  exit_code_ = 1;
  request_shutdown(admin::ShutdownMode::WaitForClients);
  return false;
}

void Router::own_socket_files(bool own) {
  for (const auto& worker : shared_->workers)
    worker->own_socket_files(own);
  if (http_) http_->own_files(own);
}

service::TakeoverPoint::Sockets Router::sockets_for_successor() {
  service::TakeoverPoint::Sockets sockets;
  // Nobody could resume it any more. Nor is anything paused until the successor serves, or does not.
  if (!shared_->gates.hold_open()) {
    sockets.refusal = "a database is paused, RESUME it first";
    return sockets;
  }
  own_socket_files(false);
  for (const auto& worker : shared_->workers) {
    const std::vector<int> all = worker->listening();
    sockets.clients.insert(sockets.clients.end(), all.begin(), all.end());
  }
  if (http_) sockets.admin = http_->descriptors();
  sockets.cancel_paths.push_back(service::TakeoverPoint::cancel_path(succession_.path()));
  // A process that has ended has removed its own.
  for (const std::string& path : shared_->predecessor_cancels)
    if (::access(path.c_str(), F_OK) == 0) sockets.cancel_paths.push_back(path);
  return sockets;
}

void Router::called_off() {
  shared_->gates.let_go();
  own_socket_files(true);
}

// Also when the end has been asked for in the meantime: then the sessions have as long as without a
// successor.
void Router::handed_over(pid_t successor) {
  const bool ending = shared_->shutting_down.exchange(true);
  served_by_ = service::ServedBy::Successor;
  lingering_ = !ending;
  if (!ending) {
    const auto limit = snapshot()->options().takeover_drain_timeout;
    drain_until_ = limit.count() > 0 ? std::chrono::steady_clock::now() + limit
                                     : std::chrono::steady_clock::time_point::max();
  }
  log::info("taken over", {{"by", successor}, {"sessions", admission_->session_count()}});
  notifier_.hand_over_to(successor);
  profile_writer_.reset();
  shared_->workers.front()->accept_at(service::TakeoverPoint::cancel_path(succession_.path()));
  if (!ending) tasks_.spawn("drain", drain());
}

// Until the last connection has ended, or somebody wants an end. Console sessions are of no use here: what
// they show is elsewhere now.
asio::awaitable<void> Router::leave_to_successor() {
  const protocol::ErrorFields why{"FATAL", "57P01", "terminating connection due to administrator command", "",
                                  "Another process serves now: connect again."};
  asio::steady_timer timer(control_);
  while (lingering_ && !drained() && std::chrono::steady_clock::now() < drain_until_) {
    for (const auto& worker : shared_->workers)
      worker->end_sessions([](const Session& session) { return session.console(); }, why,
                           telemetry::CloseReason::Shutdown);
    timer.expires_after(kLingerPoll);
    co_await timer.async_wait(asio::experimental::as_tuple(asio::use_awaitable));
  }
}

// Of those who were let in; where another process serves nobody is cut off who may still become one.
bool Router::drained() const {
  if (served_by_ == service::ServedBy::Us) return admission_->session_count() == 0;
  return std::all_of(shared_->workers.begin(), shared_->workers.end(),
                     [](const auto& worker) { return !worker->accepting() && worker->session_count() == 0; });
}

}  // namespace sluice::router
