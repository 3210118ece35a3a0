#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <sys/types.h>

#include "base/result.h"

namespace sluice::service {

// Tells the service manager how the process is, as sd_notify(3) does: lines of VARIABLE=value in one datagram
// to the Unix socket that NOTIFY_SOCKET names. A path, or '@' and an abstract name.
// Shape:  a status line of at most kStatusBytesMax bytes, cut at a character; line ends in it become spaces.
// Errors: what cannot be sent is dropped and not repeated, but for what the next call says anyway: a manager
//         that is gone is no reason to serve nobody.
// Thread: one. A call takes at most kSendTimeout, the status line and the sign of life no time.
class Notifier {
 public:
  static constexpr std::size_t kStatusBytesMax = 500;
  static constexpr std::chrono::seconds kSendTimeout{1};

  // Says nothing to nobody.
  Notifier() = default;
  // NOTIFY_SOCKET, and WATCHDOG_USEC where WATCHDOG_PID is this process or not there.
  static Notifier from_environment();
  explicit Notifier(std::string_view address);
  Notifier(Notifier&& other) noexcept;
  Notifier& operator=(Notifier&& other) noexcept;
  ~Notifier();

  bool active() const noexcept { return socket_ >= 0; }
  // How often the manager wants a sign of life, at least.
  std::optional<std::chrono::microseconds> watchdog() const noexcept { return watchdog_; }

  void ready(std::string_view status);
  // The configuration is being read; ready() ends it.
  void reloading();
  void stopping(std::string_view status);
  // Sent only when it differs from what the manager has.
  void status(std::string_view status);
  void alive();
  // Another process is the service from now on; this one says nothing more.
  void hand_over_to(pid_t process);

 private:
  enum class Waiting { Bounded, None };
  void send(const std::string& lines, Waiting waiting);

  int socket_ = -1;
  std::string address_;  // as sockaddr_un wants it: an abstract name begins with a zero byte
  std::string status_;   // that was sent last
  std::optional<std::chrono::microseconds> watchdog_;
};

}  // namespace sluice::service
