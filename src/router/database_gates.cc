#include "router/database_gates.h"

#include <utility>

#include <asio/experimental/as_tuple.hpp>
#include <asio/use_awaitable.hpp>

#include "base/assert.h"

namespace sluice::router {

DatabaseGates::Pause DatabaseGates::pause(const Name& database) {
  const std::lock_guard lock(mutex_);
  if (held_open_) return Pause::Refused;
  any_paused_.store(true, std::memory_order_relaxed);
  const bool done = database ? paused_.insert(*database).second : !std::exchange(all_paused_, true);
  return done ? Pause::Done : Pause::AlreadyPaused;
}

bool DatabaseGates::hold_open() {
  const std::lock_guard lock(mutex_);
  if (all_paused_ || !paused_.empty()) return false;
  return held_open_ = true;
}

void DatabaseGates::let_go() {
  const std::lock_guard lock(mutex_);
  held_open_ = false;
}

bool DatabaseGates::resume(const Name& database) {
  const std::lock_guard lock(mutex_);
  const bool changed = database ? paused_.erase(*database) > 0 : std::exchange(all_paused_, false);
  any_paused_.store(all_paused_ || !paused_.empty(), std::memory_order_relaxed);
  return changed;
}

bool DatabaseGates::paused(std::string_view database) const {
  if (!any_paused_.load(std::memory_order_relaxed)) return false;
  const std::lock_guard lock(mutex_);
  return all_paused_ || paused_.contains(database);
}

bool DatabaseGates::all_paused() const {
  const std::lock_guard lock(mutex_);
  return all_paused_;
}

bool DatabaseGates::disable(const std::string& database) {
  const std::lock_guard lock(mutex_);
  any_disabled_.store(true, std::memory_order_relaxed);
  return disabled_.insert(database).second;
}

bool DatabaseGates::enable(const std::string& database) {
  const std::lock_guard lock(mutex_);
  const bool changed = disabled_.erase(database) > 0;
  any_disabled_.store(!disabled_.empty(), std::memory_order_relaxed);
  return changed;
}

bool DatabaseGates::disabled(std::string_view database) const {
  if (!any_disabled_.load(std::memory_order_relaxed)) return false;
  const std::lock_guard lock(mutex_);
  return disabled_.contains(database);
}

void DatabaseGates::reconnect(const Name& database, Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  any_outdated_.store(true, std::memory_order_relaxed);
  if (database) {
    outdated_[*database] = now;
  } else {
    all_outdated_ = now;
    outdated_.clear();
  }
}

bool DatabaseGates::outdated(std::string_view database, Clock::time_point opened_at) const {
  if (!any_outdated_.load(std::memory_order_relaxed)) return false;
  const std::lock_guard lock(mutex_);
  if (opened_at < all_outdated_) return true;
  const auto found = outdated_.find(database);
  return found != outdated_.end() && opened_at < found->second;
}

WakeList::~WakeList() {
  SLUICE_ASSERT(waiting_.empty());
}

asio::awaitable<void> WakeList::wait_until(std::chrono::steady_clock::time_point until) {
  struct Place {
    std::list<asio::steady_timer>& list;
    std::list<asio::steady_timer>::iterator mine;
    ~Place() { list.erase(mine); }
  };
  const Place place{waiting_, waiting_.emplace(waiting_.end(), executor_, until)};
  co_await place.mine->async_wait(asio::experimental::as_tuple(asio::use_awaitable));
}

void WakeList::wake_all() {
  for (asio::steady_timer& timer : waiting_)
    timer.cancel();
}

}  // namespace sluice::router
