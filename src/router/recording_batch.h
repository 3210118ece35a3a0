#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sluice/policy/ids.h"

namespace sluice::router {

// Who a recorded session is: the same for all its transactions.
struct RecordedWho {
  std::string session_class, user, database, host;
  friend auto operator<=>(const RecordedWho&, const RecordedWho&) = default;
};

inline constexpr std::chrono::nanoseconds kSizeUnknown{-1};

// The pause before it, since the answer before or since the admission, and how long the server took.
struct RecordedQuery {
  std::chrono::nanoseconds pause{}, response{};
};

enum class RecordedKind : std::uint8_t { Session, Transaction };

// What happened to an admission, as a thread notes it: all of it at once when it has ended soon, else piece
// by piece.
struct RecordedEvent {
  enum class Kind : std::uint8_t { Whole, Admission, Queries, End };
  Kind kind = Kind::End;
  RecordedKind of = RecordedKind::Session;           // Whole, Admission
  std::uint16_t query_count = 0;                     // Whole, Queries: the batch's next
  std::uint32_t who = 0;                             // Whole, Admission: index in the batch
  policy::ReplicaId replica;                         // the same
  std::uint64_t number = 0;                          // of the admission; but for Whole
  std::chrono::steady_clock::time_point at{};        // Whole, Admission: when it asked
  std::chrono::steady_clock::time_point ended{};     // Whole, End
  std::chrono::nanoseconds waited{};                 // Whole, Admission
  std::chrono::nanoseconds expected = kSizeUnknown;  // the same: its service time
};

struct RecordedBatch {
  std::vector<RecordedEvent> events;
  std::vector<RecordedQuery> queries;  // of the events, one after the other
  std::vector<std::shared_ptr<const RecordedWho>> who;
};

class SessionRecording;

// What one thread's sessions record, on its way to the control thread. On that thread, but for set_on().
class RecordingBuffer {
 public:
  static constexpr std::size_t kBatchEvents = 2'048;  // at which a batch is handed over
  static constexpr std::size_t kBatchQueries = 4'096;
  static constexpr std::uint64_t kThreadsMax = 1'024;
  static constexpr std::size_t kKnownMax = 10'000;
  // False when it takes no more at the moment: then these are lost, and counted there.
  using Deliver = std::function<bool(RecordedBatch)>;

  // `index` of the thread: the numbers of two threads do not meet.
  RecordingBuffer(unsigned index, Deliver deliver) : deliver_(std::move(deliver)), next_(index) {}

  // Whether sessions that begin now are recorded.
  bool on() const noexcept { return on_.load(std::memory_order_relaxed); }
  void set_on(bool on) noexcept { on_.store(on, std::memory_order_relaxed); }

  // What has happened so far; to be called about twice a second.
  void hand_over();

 private:
  friend class SessionRecording;
  // Shared by the sessions that are alike, so that a batch has it once for all of them.
  struct Known {
    std::shared_ptr<const RecordedWho> who;
    std::uint64_t batch = 0;  // that has it
    std::uint32_t index = 0;  // there
  };

  std::shared_ptr<Known> known(RecordedWho who);
  std::uint32_t index_of(Known& known) {
    if (known.batch != batch_number_) {
      known.batch = batch_number_;
      known.index = static_cast<std::uint32_t>(batch_.who.size());
      batch_.who.push_back(known.who);
    }
    return known.index;
  }
  std::uint64_t next_number() noexcept { return std::exchange(next_, next_ + kThreadsMax); }
  void add(const RecordedEvent& event, std::span<const RecordedQuery> queries) {
    if (batch_.events.empty()) make_room();
    batch_.events.push_back(event);
    batch_.queries.insert(batch_.queries.end(), queries.begin(), queries.end());
    if (batch_.events.size() >= kBatchEvents || batch_.queries.size() >= kBatchQueries) deliver();
  }
  void make_room();
  void deliver();

  Deliver deliver_;
  std::atomic<bool> on_{false};
  std::uint64_t next_;
  RecordedBatch batch_;
  std::uint64_t batch_number_ = 1;
  std::map<RecordedWho, std::shared_ptr<Known>> known_;  // of kKnownMax at most
  std::vector<SessionRecording*> holding_;               // that may hold something back
};

// One session's part in a recording. What it has to say of an admission it holds back until that ends, or
// hand_over() asks for it, or there is no more room: most transactions are one event then.
class SessionRecording {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t kQueriesHeld = 16;

  SessionRecording(RecordingBuffer& buffer, RecordedWho who)
      : buffer_(buffer), who_(buffer.known(std::move(who))) {}
  ~SessionRecording() { forget(); }
  SessionRecording(const SessionRecording&) = delete;
  SessionRecording& operator=(const SessionRecording&) = delete;

  // It has a replica, having waited for it until now. `size`: its service time, in seconds, as far as it is
  // expected.
  void admitted(RecordedKind of, policy::ReplicaId replica, std::chrono::nanoseconds waited,
                std::optional<double> size, Clock::time_point now) {
    if (state_ != State::None) say();  // nobody said that the one before has ended
    state_ = State::Held;
    of_ = of;
    replica_ = replica;
    at_ = now - waited;
    waited_ = waited;
    expected_ = in_nanoseconds(size);
    before_ = now;
    hold();
  }
  // The answer to a query has come, so long after the server had it.
  void answered(std::chrono::nanoseconds response, Clock::time_point now) {
    if (state_ == State::None) return;
    if (held_count_ == kQueriesHeld) say();
    held_[held_count_++] = {std::max(std::chrono::nanoseconds(0), now - response - before_), response};
    before_ = now;
    hold();
  }
  void ended(Clock::time_point now);
  // Notes what is held back.
  void say();

 private:
  friend class RecordingBuffer;
  // Of the admission: none; nothing of it is noted yet; noted.
  enum class State : std::uint8_t { None, Held, Noted };

  // A client that is trusted may still say anything.
  static std::chrono::nanoseconds in_nanoseconds(std::optional<double> seconds) noexcept {
    constexpr double kMost = 1e9;
    if (!seconds || !(*seconds >= 0)) return kSizeUnknown;
    return std::chrono::nanoseconds(static_cast<std::int64_t>(std::min(*seconds, kMost) * 1e9));
  }
  void hold() {
    if (listed_) return;
    listed_ = buffer_.holding_.size();
    buffer_.holding_.push_back(this);
  }
  void forget() noexcept;
  RecordedEvent admission(RecordedEvent::Kind kind);
  std::span<const RecordedQuery> held() noexcept { return {held_.data(), std::exchange(held_count_, 0)}; }

  RecordingBuffer& buffer_;
  const std::shared_ptr<RecordingBuffer::Known> who_;
  State state_ = State::None;
  std::optional<std::size_t> listed_;  // index in the buffer's holding_
  RecordedKind of_ = RecordedKind::Session;
  policy::ReplicaId replica_;
  std::uint64_t number_ = 0;  // of what is noted
  Clock::time_point at_{};
  std::chrono::nanoseconds waited_{}, expected_ = kSizeUnknown;
  Clock::time_point before_{};  // the answer before, or the admission
  std::size_t held_count_ = 0;
  std::array<RecordedQuery, kQueriesHeld> held_;
};

}  // namespace sluice::router
