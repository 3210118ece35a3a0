#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>

#include <asio/awaitable.hpp>

#include "router/server_login.h"

namespace sluice::router {

// Logins that servers have refused for what the user proves or where it comes from (SQLSTATE class 28): a
// server is not asked the same again for a second, then for twice as long each time, ten seconds at most, so
// that clients that come back at once with an old password cost PostgreSQL few logins. Any thread; while
// there are none, asking costs one relaxed load.
class RefusedLogins {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr Clock::duration kPauseMin = std::chrono::seconds(1);
  static constexpr Clock::duration kPauseMax = std::chrono::seconds(10);
  static constexpr std::size_t kEntriesMax = 10'000;  // more are asked each time

  // What the server said, where it is not to be asked now.
  std::optional<ServerFailure> standing(const std::string& login, Clock::time_point now) const;
  // How a login ended that was asked; null: well.
  void ended(const std::string& login, const ServerFailure* failure, Clock::time_point now);
  void clear();

 private:
  struct Entry {
    ServerFailure failure;
    Clock::duration pause;
    Clock::time_point until;
  };
  void make_room(Clock::time_point now);

  mutable std::mutex mutex_;
  std::unordered_map<std::string, Entry> entries_;
  std::atomic<bool> any_{false};
};

// Equal for two requests exactly when a server judges them alike: the same way_key(), user,
// database and proof. Holds no secret: proofs are hashed.
std::string login_key(const Snapshot& snapshot, const ServerRequest& request);

// open_server_connection(), or at once what stands against it.
asio::awaitable<std::variant<ServerConnection, ServerFailure>> log_in(
    RefusedLogins& refused, SnapshotPtr snapshot, ServerRequest request,
    std::chrono::steady_clock::time_point give_up_at);

}  // namespace sluice::router
