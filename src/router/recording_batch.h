#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sluice/policy/ids.h"

namespace sluice::router {

// Who a recorded session is: the same for all its transactions.
struct RecordedWho {
  std::string session_class, user, database, host;
};

inline constexpr std::chrono::nanoseconds kSizeUnknown{-1};

// What happened to an admission, as a thread notes it.
struct RecordedEvent {
  enum class Kind : std::uint8_t { Session, Transaction, Query, End };
  Kind kind = Kind::End;
  policy::ReplicaId replica;                   // of an admission
  std::uint64_t number = 0;                    // of the admission
  std::chrono::steady_clock::time_point at{};  // asked, or ended
  std::chrono::nanoseconds first{},
      second{};                            // waited, and the size expected; pause, and response of a query
  std::shared_ptr<const RecordedWho> who;  // of an admission
};
using RecordedBatch = std::vector<RecordedEvent>;

// What one thread's sessions record, on its way to the control thread. On that thread, but for set_on().
class RecordingBuffer {
 public:
  static constexpr std::size_t kBatchEvents = 2'048;
  static constexpr std::uint64_t kThreadsMax = 1'024;
  // False when it takes no more at the moment: then these are lost, and counted there.
  using Deliver = std::function<bool(RecordedBatch)>;

  // `index` of the thread: the numbers of two threads do not meet.
  RecordingBuffer(unsigned index, Deliver deliver) : deliver_(std::move(deliver)), next_(index) {}

  // Whether sessions that begin now are recorded.
  bool on() const noexcept { return on_.load(std::memory_order_relaxed); }
  void set_on(bool on) noexcept { on_.store(on, std::memory_order_relaxed); }

  std::uint64_t next_number() noexcept { return std::exchange(next_, next_ + kThreadsMax); }
  void add(RecordedEvent event) {
    if (events_.capacity() == 0) events_.reserve(kBatchEvents);
    events_.push_back(std::move(event));
    if (events_.size() >= kBatchEvents) hand_over();
  }
  // What has been noted so far; to be called about twice a second.
  void hand_over() {
    if (!events_.empty() && deliver_) (void)deliver_(std::exchange(events_, {}));
  }

 private:
  Deliver deliver_;
  std::atomic<bool> on_{false};
  std::uint64_t next_;
  RecordedBatch events_;
};

// One session's part in a recording.
class SessionRecording {
 public:
  using Clock = std::chrono::steady_clock;

  SessionRecording(RecordingBuffer& buffer, RecordedWho who)
      : buffer_(buffer), who_(std::make_shared<const RecordedWho>(std::move(who))) {}

  // It has a replica, having waited for it until now. `size`: its service time, in seconds, as far as it is
  // expected.
  void admitted(RecordedEvent::Kind kind, policy::ReplicaId replica, std::chrono::nanoseconds waited,
                std::optional<double> size, Clock::time_point now) {
    number_ = buffer_.next_number();
    before_ = now;
    buffer_.add({kind, replica, *number_, now - waited, waited, in_nanoseconds(size), who_});
  }
  // The answer to a query has come, so long after the server had it.
  void answered(std::chrono::nanoseconds response, Clock::time_point now) {
    if (!number_) return;
    const auto pause = std::max(std::chrono::nanoseconds(0), now - response - before_);
    before_ = now;
    buffer_.add({RecordedEvent::Kind::Query, {}, *number_, {}, pause, response, nullptr});
  }
  void ended(Clock::time_point now) {
    if (!number_) return;
    buffer_.add({RecordedEvent::Kind::End, {}, *std::exchange(number_, std::nullopt), now, {}, {}, nullptr});
  }

 private:
  // A client that is trusted may still say anything.
  static std::chrono::nanoseconds in_nanoseconds(std::optional<double> seconds) noexcept {
    constexpr double kMost = 1e9;
    if (!seconds || !(*seconds >= 0)) return kSizeUnknown;
    return std::chrono::nanoseconds(static_cast<std::int64_t>(std::min(*seconds, kMost) * 1e9));
  }

  RecordingBuffer& buffer_;
  std::shared_ptr<const RecordedWho> who_;
  std::optional<std::uint64_t> number_;  // while it has a replica
  Clock::time_point before_{};           // the answer before, or the admission
};

}  // namespace sluice::router
