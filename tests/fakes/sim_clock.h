#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>

namespace sluice::fakes {

// Virtual time, and what is to happen in it. Events happen in the order of their time, ties in the order of
// their creation. now() is a nanosecond later at every look, so that timers set one after the other for the
// same time never tie: they expire in the order of their creation, whatever heap holds them.
class SimClock {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  using Duration = std::chrono::nanoseconds;

  TimePoint now() noexcept { return now_ += Duration(1); }
  TimePoint peek() const noexcept { return now_; }
  void advance_to(TimePoint time) noexcept {
    if (time > now_) now_ = time;
  }

  void at(TimePoint time, std::function<void()> action) {
    agenda_.emplace(std::pair(time, ++created_), std::move(action));
  }
  bool idle() const noexcept { return agenda_.empty(); }
  // Of the next event; time_point::max() when there is none.
  TimePoint next() const noexcept {
    return agenda_.empty() ? TimePoint::max() : agenda_.begin()->first.first;
  }
  // Lets the next event happen, at its time.
  void step() {
    auto event = agenda_.extract(agenda_.begin());
    advance_to(event.key().first);
    event.mapped()();
  }

 private:
  // Long after the epoch: what was never set is long ago.
  TimePoint now_ = TimePoint(std::chrono::hours(1000));
  std::map<std::pair<TimePoint, std::uint64_t>, std::function<void()>> agenda_;
  std::uint64_t created_ = 0;
};

}  // namespace sluice::fakes
