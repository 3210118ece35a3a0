#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "net/inherited_sockets.h"

namespace sluice::service {

// The process that served here before, and has given us its listening sockets. Until serving() it accepts
// beside us and goes on if we end.
// Thread: one, at start-up: calls wait, at most kTimeout.
class Predecessor {
 public:
  // What the other process may take for one answer.
  static constexpr std::chrono::seconds kTimeout{10};

  // Whoever listens at `path`, and its sockets. nullopt when nobody does. On an error (it is another user's,
  // does not speak our language, falls silent) `problem` says what and why.
  static Result<std::optional<Predecessor>> at(const std::string& path, std::string& problem);
  Predecessor(Predecessor&&) noexcept;
  Predecessor& operator=(Predecessor&&) = delete;
  ~Predecessor();

  net::InheritedSockets& clients() noexcept { return clients_; }
  net::InheritedSockets& admin() noexcept { return admin_; }
  // Unix sockets at which it, and those before it, take CancelRequests for the sessions that they keep.
  const std::vector<std::string>& cancel_paths() const noexcept { return cancel_paths_; }

  // We accept connections: it shall stop. Returns when it has, and has left `path` to us.
  Result<void> serving();

 private:
  explicit Predecessor(int socket) noexcept : socket_(socket) {}
  Result<void> receive(std::string& problem);

  int socket_;
  net::InheritedSockets clients_, admin_;
  std::vector<std::string> cancel_paths_;
};

}  // namespace sluice::service
