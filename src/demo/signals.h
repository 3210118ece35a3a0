#pragma once

#include <chrono>
#include <csignal>

namespace sluice::demo {

using Clock = std::chrono::steady_clock;

// The one place where the demo waits. While an object lives, SIGINT, SIGTERM, SIGHUP and SIGCHLD are blocked
// and taken synchronously, so no handler runs anywhere and no child's end is missed; SIGPIPE is ignored. One
// thread, one object.
class Signals {
 public:
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  enum class Wake { Timeout, ChildChanged, Stop };
  // Waits until `until`, a child's change of state, or a request to stop, whichever is first. Once a request
  // to stop has come every later call returns Stop at once.
  Wake wait_until(Clock::time_point until);
  // The same, but throws Stopped.
  Wake wait_or_throw(Clock::time_point until);
  int stop_signal() const noexcept { return stop_signal_; }  // 0: none came

 private:
  sigset_t taken_{}, before_{};
  int stop_signal_ = 0;
};

}  // namespace sluice::demo
