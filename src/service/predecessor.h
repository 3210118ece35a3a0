#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
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

  // Whoever listens at `path`, and its sockets, for a successor of the kind `request`. nullopt when nobody
  // does. On an error (it is another user's, does not speak our language, falls silent) `problem` says what
  // and why.
  static Result<std::optional<Predecessor>> at(const std::string& path, std::string_view request,
                                               std::string& problem);
  // Whether anybody may listen there now: false only when the system says that nobody does.
  static bool waits_at(const std::string& path);
  Predecessor(Predecessor&&) noexcept;
  Predecessor& operator=(Predecessor&&) = delete;
  ~Predecessor();

  net::InheritedSockets& clients() noexcept { return clients_; }
  net::InheritedSockets& admin() noexcept { return admin_; }
  // Unix sockets at which it, and those before it, take CancelRequests for the sessions that they keep.
  const std::vector<std::string>& cancel_paths() const noexcept { return cancel_paths_; }

  enum class Answer {
    Released,  // it has stopped, and has left `path` and the socket files to us
    None,      // it was told and ends, or will stop when it gets to it: as good as released
    CalledOff  // it was not told: it has given us up, and goes on, or is gone
  };
  struct Told {
    Answer answer;
    std::error_code reason{};  // of what is not Released
  };
  // We accept connections: it shall stop.
  Told serving();
  // Of its sockets, as InheritedSockets has it.
  std::vector<std::string> files() const;
  // Closes those of its sockets that nobody has taken, and removes their files.
  void abandon_rest();

 private:
  explicit Predecessor(int socket) noexcept : socket_(socket) {}
  Result<void> receive(std::string_view request, std::string& problem);

  int socket_;
  net::InheritedSockets clients_, admin_;
  std::vector<std::string> cancel_paths_;
};

}  // namespace sluice::service
