#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include <asio/any_io_executor.hpp>
#include <asio/awaitable.hpp>
#include <asio/steady_timer.hpp>

namespace sluice::router {

// What an operator has said about databases (PAUSE, DISABLE, RECONNECT), by the names that clients use,
// whether or not any client has come yet. It outlives reloads, not the process. Any thread; where nothing was
// said, the questions cost one relaxed load each.
class DatabaseGates {
 public:
  using Clock = std::chrono::steady_clock;
  using Name = std::optional<std::string>;  // none: all databases

  // Paused: its sessions get no server until it is resumed. Resuming all leaves paused what was paused by
  // name. Refused while they are held open; resume() is false when there was nothing to change.
  enum class Pause { Done, AlreadyPaused, Refused };
  Pause pause(const Name& database);
  bool resume(const Name& database);
  bool paused(std::string_view database) const;
  bool all_paused() const;
  // Until let_go() nothing can be paused. False, and nothing is held, when something is paused.
  bool hold_open();
  void let_go();

  // Disabled: no new session of it is let in; those that are there go on.
  bool disable(const std::string& database);
  bool enable(const std::string& database);
  bool disabled(std::string_view database) const;

  // Server connections of it that were opened before `now` are closed instead of serving another client.
  void reconnect(const Name& database, Clock::time_point now);
  bool outdated(std::string_view database, Clock::time_point opened_at) const;

 private:
  mutable std::mutex mutex_;
  std::atomic<bool> any_paused_{false}, any_disabled_{false}, any_outdated_{false};
  bool all_paused_ = false, held_open_ = false;
  std::set<std::string, std::less<>> paused_, disabled_;
  Clock::time_point all_outdated_{};
  std::map<std::string, Clock::time_point, std::less<>> outdated_;
};

// Those of one thread who wait for something to change, each until a time of its own. One thread.
class WakeList {
 public:
  explicit WakeList(asio::any_io_executor executor) : executor_(std::move(executor)) {}
  WakeList(const WakeList&) = delete;
  WakeList& operator=(const WakeList&) = delete;
  ~WakeList();  // asserts that nobody waits

  // Returns at `until`, after wake_all(), or perhaps for no reason: look again at what was waited for.
  asio::awaitable<void> wait_until(std::chrono::steady_clock::time_point until);
  void wake_all();
  std::size_t size() const noexcept { return waiting_.size(); }

 private:
  asio::any_io_executor executor_;
  std::list<asio::steady_timer> waiting_;
};

}  // namespace sluice::router
