#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <asio/any_io_executor.hpp>
#include <asio/awaitable.hpp>
#include <asio/steady_timer.hpp>

#include "net/inherited_sockets.h"
#include "net/task_group.h"
#include "service/predecessor.h"
#include "service/socket_names.h"
#include "service/takeover_point.h"

namespace sluice::service {

// Whose the service is: a process that is not it serves what it has to the end, and no more.
enum class ServedBy : std::uint8_t { Us, Successor, Predecessor };

// How one process follows another without a client noticing: both sides of it, in a daemon's life.
// Thread: that of the executor, which runs the callbacks. stop() is awaited before destruction.
class Succession {
 public:
  struct Plan {
    std::string path;                  // Unix socket where the two meet; empty: nobody follows anybody
    std::vector<std::string> command;  // that starts a successor
  };

  // `request` says of which kind both are. What the callbacks use need not be there before begin().
  Succession(asio::any_io_executor executor, Plan plan, std::string_view request,
             TakeoverPoint::Callbacks callbacks);
  Succession(const Succession&) = delete;
  Succession& operator=(const Succession&) = delete;
  ~Succession();

  // Before the listening sockets are opened: looks for whoever serves now. On an error, a sentence.
  std::optional<std::string> find_predecessor();
  // Of the predecessor; null without one, and after begin().
  net::InheritedSockets* clients() noexcept { return predecessor_ ? &predecessor_->clients() : nullptr; }
  net::InheritedSockets* admin() noexcept { return predecessor_ ? &predecessor_->admin() : nullptr; }
  // Where a predecessor takes cancel requests; empty after begin().
  std::vector<std::string> cancel_paths() const;

  enum class Begun {
    First,     // nobody has served before us
    TookOver,  // the predecessor's socket files are ours
    CalledOff  // it goes on, and this process has to end
  };
  // We accept: the predecessor is told, and then we wait where it has waited. Takes up to
  // Predecessor::kTimeout. What goes wrong is logged. A predecessor that has not let go may be on its way
  // out, and removes its socket files: they are looked after for kFilesWatched.
  static constexpr std::chrono::seconds kFilesWatched{10};
  Begun begin();
  const std::string& path() const noexcept { return plan_.path; }
  // On SIGUSR2. Logs what came of it.
  void start_successor(std::string_view why_not);
  // No successor any more.
  asio::awaitable<void> stop();

 private:
  const asio::any_io_executor executor_;
  const Plan plan_;
  const std::string request_;
  const TakeoverPoint::Callbacks callbacks_;
  void restore_files();
  asio::awaitable<void> watch_files();

  std::optional<Predecessor> predecessor_;  // until we serve in its place
  std::optional<SocketNames> names_;        // of what it gave, until it cannot remove them any more
  std::unique_ptr<TakeoverPoint> point_;
  asio::steady_timer turn_;
  net::TaskGroup tasks_;
};

}  // namespace sluice::service
