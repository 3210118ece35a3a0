// What the service manager is told, and how one process follows another.

#include <algorithm>
#include <chrono>
#include <string>

#include "placer/placer.h"
#include "service/signs_of_life.h"
#include "telemetry/log.h"

namespace sluice::placer {

void Placer::begin_service() {
  notifier_.ready(status_line());
  loop_watch_ = service::signs_of_life(notifier_, control_.get_executor(), service::loops_of(workers_));
  if (loop_watch_) tasks_.spawn("loop watch", loop_watch_->run());
}

// We accept by now. False: the former process goes on, and this one is no service.
bool Placer::begin_succession() {
  const service::Succession::Begun begun = succession_.begin();
  if (begun == service::Succession::Begun::TookOver) own_socket_files(true);
  if (begun != service::Succession::Begun::CalledOff) return true;
  served_by_ = service::ServedBy::Predecessor;
  notifier_ = service::Notifier();
  exit_code_ = 1;
  linger(std::chrono::steady_clock::now() + snapshot_->options().drain_timeout);
  return false;
}

void Placer::own_socket_files(bool own) {
  for (const auto& worker : workers_)
    worker->own_socket_files(own);
  if (admin_) admin_->own_files(own);
}

service::TakeoverPoint::Sockets Placer::sockets_for_successor() {
  own_socket_files(false);
  service::TakeoverPoint::Sockets sockets;
  for (const auto& worker : workers_) {
    const std::vector<int> all = worker->listening();
    sockets.clients.insert(sockets.clients.end(), all.begin(), all.end());
  }
  if (admin_) sockets.admin = admin_->descriptors();
  return sockets;
}

void Placer::called_off() {
  own_socket_files(true);
}

// Also when the end has been asked for in the meantime: then requests have as long as without a successor.
void Placer::handed_over(pid_t successor) {
  using Clock = std::chrono::steady_clock;
  served_by_ = service::ServedBy::Successor;
  log::info("taken over", {{"by", successor}, {"connections", shared_.client_connections.load()}});
  notifier_.hand_over_to(successor);
  if (shutting_down_) return;
  const auto limit = snapshot_->options().takeover_drain_timeout;
  linger(limit.count() > 0 ? Clock::now() + limit : Clock::time_point::max());
}

// Another process serves: what is here has one more request, and nothing new comes.
void Placer::linger(std::chrono::steady_clock::time_point until) {
  shutting_down_ = lingering_ = true;
  drain_until_ = until;
  tasks_.spawn("drain", drain());
}

std::string Placer::status_line() const {
  const auto& hosts = snapshot_->hosts;
  const auto up = std::count_if(hosts.begin(), hosts.end(),
                                [](const HostPtr& host) { return host->up.load(std::memory_order_relaxed); });
  return (shutting_down_ ? "Shutting down: " : "") + std::to_string(shared_.client_connections.load()) +
         " connections, " + std::to_string(up) + " of " + std::to_string(hosts.size()) +
         " compute hosts up, policy " + policy_.summary;
}

}  // namespace sluice::placer
