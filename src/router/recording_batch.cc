#include "router/recording_batch.h"

namespace sluice::router {

// Beyond the bound those that begin are not known to be like others any more: their batches get longer.
std::shared_ptr<RecordingBuffer::Known> RecordingBuffer::known(RecordedWho who) {
  if (known_.size() >= kKnownMax && !known_.contains(who)) known_.clear();
  const auto [place, is_new] = known_.try_emplace(who);
  if (is_new) {
    place->second = std::make_shared<Known>();
    place->second->who = std::make_shared<const RecordedWho>(std::move(who));
  }
  return place->second;
}

void RecordingBuffer::make_room() {
  batch_.events.reserve(kBatchEvents);
  batch_.queries.reserve(kBatchQueries + SessionRecording::kQueriesHeld);
}

void RecordingBuffer::deliver() {
  ++batch_number_;
  RecordedBatch full = std::exchange(batch_, {});
  if (deliver_) (void)deliver_(std::move(full));
}

void RecordingBuffer::hand_over() {
  for (SessionRecording* const session : holding_) {
    session->listed_.reset();
    session->say();
  }
  holding_.clear();
  if (!batch_.events.empty()) deliver();
}

RecordedEvent SessionRecording::admission(RecordedEvent::Kind kind) {
  RecordedEvent event;
  event.kind = kind;
  event.of = of_;
  event.who = buffer_.index_of(*who_);
  event.replica = replica_;
  event.at = at_;
  event.waited = waited_;
  event.expected = expected_;
  return event;
}

void SessionRecording::ended(Clock::time_point now) {
  if (state_ == State::None) return;
  RecordedEvent event;
  if (state_ == State::Held) {
    event = admission(RecordedEvent::Kind::Whole);
    event.query_count = static_cast<std::uint16_t>(held_count_);
  } else {
    say();
    event.number = number_;
  }
  event.ended = now;
  state_ = State::None;
  buffer_.add(event, held());
}

void SessionRecording::say() {
  if (state_ == State::Held) {
    RecordedEvent event = admission(RecordedEvent::Kind::Admission);
    event.number = number_ = buffer_.next_number();
    state_ = State::Noted;
    buffer_.add(event, {});
  }
  if (held_count_ == 0) return;
  RecordedEvent event;
  event.kind = RecordedEvent::Kind::Queries;
  event.number = number_;
  event.query_count = static_cast<std::uint16_t>(held_count_);
  buffer_.add(event, held());
}

void SessionRecording::forget() noexcept {
  if (!listed_) return;
  SessionRecording* const last = buffer_.holding_.back();
  buffer_.holding_[*listed_] = last;
  last->listed_ = listed_;
  buffer_.holding_.pop_back();
}

}  // namespace sluice::router
