#include "demo/signals.h"

#include <algorithm>
#include <cerrno>

#include "demo/failure.h"

namespace sluice::demo {

Signals::Signals() {
  sigemptyset(&taken_);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGCHLD})
    sigaddset(&taken_, signal);
  sigprocmask(SIG_BLOCK, &taken_, &before_);
  // `sluice demo | head` ends with a failed write, not with a killed process that leaves servers behind.
  std::signal(SIGPIPE, SIG_IGN);
}

Signals::~Signals() {
  std::signal(SIGPIPE, SIG_DFL);
  sigprocmask(SIG_SETMASK, &before_, nullptr);
}

Signals::Wake Signals::wait_until(Clock::time_point until) {
  if (stop_signal_ != 0) return Wake::Stop;
  for (;;) {
    const auto left = std::max(std::chrono::nanoseconds(0), std::chrono::nanoseconds(until - Clock::now()));
    const timespec time{static_cast<time_t>(left.count() / 1'000'000'000),
                        static_cast<long>(left.count() % 1'000'000'000)};
    const int signal = sigtimedwait(&taken_, nullptr, &time);
    if (signal == SIGCHLD) return Wake::ChildChanged;
    if (signal > 0) {
      stop_signal_ = signal;
      return Wake::Stop;
    }
    if (errno == EAGAIN) return Wake::Timeout;
  }
}

Signals::Wake Signals::wait_or_throw(Clock::time_point until) {
  const Wake wake = wait_until(until);
  if (wake == Wake::Stop) throw Stopped{stop_signal_};
  return wake;
}

}  // namespace sluice::demo
