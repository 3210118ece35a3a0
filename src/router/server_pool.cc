#include "router/server_pool.h"

#include <algorithm>
#include <utility>

#include <poll.h>

namespace sluice::router {
namespace {

// Whether the server has ended the connection, told by the kernel without reading from it.
bool ended(const net::DetachedStream& stream) {
  pollfd p{stream.native_handle(), POLLRDHUP, 0};
  return ::poll(&p, 1, 0) == 1;
}

}  // namespace

void ServerPool::give(ServerConnection connection, const Limits& limits, Clock::time_point now) {
  Result<net::DetachedStream> detached = connection.stream.release();
  if (!detached) return;
  Idle idle{*std::move(detached),
            connection.server,
            connection.process_id,
            std::move(connection.secret),
            std::move(connection.parameters),
            std::move(connection.user),
            std::move(connection.database),
            connection.opened_at,
            now};
  const std::lock_guard lock(mutex_);
  if (count_ >= limits.total_max) return;
  std::vector<Idle>& list = idle_[std::move(connection.pool_key)];
  if (list.size() >= limits.per_key_max) return;
  list.push_back(std::move(idle));
  ++count_;
}

std::optional<ServerPool::Idle> ServerPool::take(const std::string& key) {
  const std::lock_guard lock(mutex_);
  const auto found = idle_.find(key);
  if (found == idle_.end()) return std::nullopt;
  std::optional<Idle> taken(std::move(found->second.back()));
  found->second.pop_back();
  if (found->second.empty()) idle_.erase(found);
  --count_;
  return taken;
}

// Moves the doomed out of the lock before they are closed: a TLS goodbye is a system call each.
std::size_t ServerPool::drop_if(auto&& condition) {
  std::vector<Idle> doomed;
  {
    const std::lock_guard lock(mutex_);
    for (auto it = idle_.begin(); it != idle_.end();) {
      std::vector<Idle>& list = it->second;
      const auto first =
          std::stable_partition(list.begin(), list.end(), [&](Idle& i) { return !condition(i); });
      doomed.insert(doomed.end(), std::make_move_iterator(first), std::make_move_iterator(list.end()));
      list.erase(first, list.end());
      it = list.empty() ? idle_.erase(it) : std::next(it);
    }
    count_ -= doomed.size();
  }
  return doomed.size();
}

std::size_t ServerPool::sweep(const Limits& limits, Clock::time_point now) {
  return drop_if([&](Idle& i) {
    return (limits.idle_timeout.count() > 0 && now - i.idle_since >= limits.idle_timeout) ||
           (limits.lifetime.count() > 0 && now - i.opened_at >= limits.lifetime) || ended(i.stream);
  });
}

void ServerPool::drop(ServerId server) {
  drop_if([&](const Idle& i) { return i.server == server; });
}

void ServerPool::drop_database(std::string_view database) {
  drop_if([&](const Idle& i) { return i.database == database; });
}

void ServerPool::drop_all() {
  drop_if([](const Idle&) { return true; });
}

std::vector<ServerPool::IdleInfo> ServerPool::snapshot() const {
  const std::lock_guard lock(mutex_);
  std::vector<IdleInfo> all;
  all.reserve(count_);
  for (const auto& [key, list] : idle_)
    for (const Idle& i : list)
      all.push_back(
          {i.user, i.database, i.server, i.process_id, i.opened_at, i.idle_since, i.stream.native_handle()});
  return all;
}

std::size_t ServerPool::size() const {
  const std::lock_guard lock(mutex_);
  return count_;
}

}  // namespace sluice::router
