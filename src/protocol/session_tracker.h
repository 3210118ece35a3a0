#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/bytes.h"
#include "protocol/error_scanner.h"
#include "protocol/header_walker.h"
#include "protocol/outstanding_queue.h"

namespace sluice::protocol {

enum class SampleKind { Completed, Failed };

// Watches both directions of a relayed session, from the ReadyForQuery that ends the start-up, and knows what
// the server still owes the client. Walks headers only; of bodies it looks at ReadyForQuery's status and
// ErrorResponse's severity and SQLSTATE. A message counts once its last byte has passed.
//
// Rules:  PostgreSQL manual, "Message Flow", and the behaviour of the server's message loop:
//         - Query and FunctionCall end with ReadyForQuery, also after an error; Sync is answered by
//         ReadyForQuery.
//         - An error while Parse, Bind, Describe, Execute or Close is at work makes the server discard
//         everything up
//           to the next Sync, Query and FunctionCall included.
//         - COPY FROM STDIN reads the client's messages itself and drops Sync and Flush until CopyDone or
//         CopyFail.
//           Outside a COPY, CopyData, CopyDone and CopyFail are ignored.
//         - Flush has no body. One that has is refused as a message of the extended protocol.
// Doubt:  a COPY FROM STDIN that fails after its CopyInResponse may or may not have read the Syncs sent
// during it (a
//         COPY to a view fails before it reads anything). Nothing on the wire tells which at that moment;
//         until the server's next answers do, doubtful_syncs() counts them, clean_for_reuse() is false and
//         owes_answer() leaves them out. What else was sent behind such a Sync may or may not be run: then
//         the connection is of no use for anybody else any more.
// Samples: one service time per CommandComplete, EmptyQueryResponse, PortalSuspended, FunctionCallResponse or
//         ErrorResponse: from the arrival of the work or the end of what was answered before it, whichever is
//         later. A COPY BOTH (replication stream) gives none.
// Cost:   O(1) per message; no allocation unless a client pipelines more than 32 runs (see OutstandingQueue).
// Thread: one.
class SessionTracker {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  // Runs after which full() asks the owner to stop reading the client. What one read adds beyond is still
  // taken.
  static constexpr std::size_t kOutstandingRunsMax = 256;

  enum class FrontendEnd { None, Terminate, Malformed };
  // forward_bytes: how many of the bytes given belong to the server. Terminate: those before Terminate, which
  // is not forwarded. Malformed: through the header with the bad type or length, so that the server itself
  // judges it; read nothing more. Both are final: further calls forward nothing.
  struct FrontendScan {
    std::size_t forward_bytes;
    FrontendEnd end;
  };
  // Observer: on_piece(char type, ByteView piece, bool complete, TimePoint now), each piece of a message's
  // body; complete: the message's last one. A message without a body has one empty piece.
  template <class Observer>
  FrontendScan on_frontend(ByteView bytes, TimePoint now, Observer& observer);
  FrontendScan on_frontend(ByteView bytes, TimePoint now) {
    struct {
      void on_piece(char, ByteView, bool, TimePoint) noexcept {}
    } nobody;
    return on_frontend(bytes, now, nobody);
  }

  // A ReadyForQuery. idle: nothing else is outstanding.
  struct Ready {
    char status;
    bool idle;
    TimePoint at;
  };
  // Observer: on_sample(std::chrono::nanoseconds service, SampleKind, TimePoint now), on_error(const
  // ErrorClass&), on_ready(const Ready&), on_transaction_end(std::chrono::nanoseconds since its first
  // message). Not re-entrant. After garbage (backend_malformed()) nothing is looked at any more.
  template <class Observer>
  void on_backend(ByteView bytes, TimePoint now, Observer& observer);

  // The client did not read for that long while the server had something for it: no part of a service time.
  void on_stall(std::chrono::nanoseconds client_stall) noexcept { work_start_ += client_stall; }
  // The owner keeps back what the server needs to go on, until on_resume(): no part of a service time, nor
  // work. What the server still works on meanwhile, of the same batch, cannot be seen and is taken for pause
  // too. Again while paused, or without a pause: nothing.
  void on_pause(TimePoint now) noexcept {
    if (!paused_since_) paused_since_ = now;
  }
  void on_resume(TimePoint now) noexcept {
    if (paused_since_) end_pause(now);
  }

  // A Query, FunctionCall or Sync waits for its ReadyForQuery, or an extended batch has not been ended by a
  // Sync (even when all its messages are answered: the server holds its transaction open).
  bool owes_answer() const noexcept { return !outstanding_.empty() || batch_ != Batch::Closed; }
  // All that was asked is answered, also within an extended batch that lacks its Sync, and the owner keeps
  // nothing back. A COPY is an answer that is owed, whoever is to go on with it.
  bool clients_turn() const noexcept { return outstanding_.empty() && !paused_since_; }
  // Since when the server has worked on what it owes: the arrival of the oldest request that it has not
  // answered, or the ReadyForQuery before it if that came later. Nothing while it is the client's turn, also
  // within an extended batch, or the owner's, and for a COPY BOTH, which is a conversation.
  std::optional<TimePoint> work_since() const noexcept {
    if (!owes_work() || paused_since_) return std::nullopt;
    return owed_since_;
  }
  // Likewise, a pause or not.
  bool owes_work() const noexcept { return !outstanding_.empty() && copy_ != Copy::Both; }
  // Since when a transaction has been going on, one statement outside of a block included; never for a COPY
  // BOTH.
  std::optional<TimePoint> transaction_since() const noexcept {
    if (copy_ == Copy::Both || (status_ == 'I' && !owes_answer())) return std::nullopt;
    return transaction_start_;
  }
  // The server reads COPY data and has not been given their end.
  bool copy_in() const noexcept { return copy_ == Copy::In; }
  // Of the last ReadyForQuery: I idle (also before the first), T in a transaction block, E in a failed one.
  char transaction_status() const noexcept { return status_; }
  // Nothing owed for sure, both directions between messages, no COPY, neither side broken: a ResetMachine may
  // talk, if it is told of doubtful_syncs().
  bool ready_for_reset() const noexcept;
  // Syncs that may still be answered by as many ReadyForQuery, before anything else is; or not at all.
  std::uint32_t doubtful_syncs() const noexcept { return doubtful_syncs_; }
  // Ready for a reset, nothing in doubt, and no transaction block is open.
  bool clean_for_reuse() const noexcept {
    return status_ == 'I' && doubtful_syncs_ == 0 && ready_for_reset();
  }
  // The server sent an impossible length, or a ReadyForQuery that is none.
  bool backend_malformed() const noexcept { return backend_malformed_; }
  // The server ended the session with an ErrorResponse FATAL or PANIC of its own.
  bool fatal_seen() const noexcept { return fatal_seen_; }
  // Both directions between two messages: a message of ours may be put into the stream to the client.
  bool backend_at_boundary() const noexcept { return backend_.at_boundary(); }
  bool frontend_at_boundary() const noexcept { return frontend_.at_boundary(); }
  // What the server owes it gives without another word of the client's: no batch lacks its Sync, no message
  // its end.
  bool ends_by_itself() const noexcept { return batch_ == Batch::Closed && frontend_.at_boundary(); }
  // Stop reading the client until the server has answered.
  bool full() const noexcept { return outstanding_.run_count() >= kOutstandingRunsMax; }

  bool check_invariant() const noexcept;

 private:
  // The extended batch as the client has left it: Skipping is a batch in which the server met an error and
  // waits for a Sync that the client has not sent yet.
  enum class Batch : std::uint8_t { Closed, Open, Skipping };
  // In: the server reads COPY data. InEnded: and the client has ended it. Both: a replication stream.
  enum class Copy : std::uint8_t { None, In, InEnded, Both };

  // What one backend message leads to.
  struct Effect {
    std::optional<SampleKind> sample;
    bool transaction_ended = false;
  };

  static bool frontend_type_valid(char type) noexcept;
  void end_pause(TimePoint now) noexcept;
  void on_frontend_message(char type, std::uint32_t body_bytes, TimePoint now);
  void on_request(Request request, TimePoint now);
  Effect on_backend_message(char type);
  Effect on_completion(char type);
  Effect on_error(const ErrorClass& error);
  Effect on_ready(char status);
  void on_copy_in();
  void on_ready_in_doubt();
  bool skip_to_sync();
  void after_pop();
  void pop() {
    outstanding_.pop();
    after_pop();
  }

  HeaderWalker frontend_;
  HeaderWalker backend_;
  FrontendEnd frontend_end_ = FrontendEnd::None;
  Batch batch_ = Batch::Closed;
  Copy copy_ = Copy::None;
  char status_ = 'I';
  char ready_status_ = 0;  // of the ReadyForQuery being read
  bool backend_malformed_ = false;
  bool fatal_seen_ = false;
  bool working_ = false;               // work_start_ belongs to outstanding work
  bool answered_ = false;              // the oldest request has had an answer since the last ReadyForQuery
  bool failed_ = false;                // an error was counted since the last ReadyForQuery
  bool lost_track_ = false;            // requests went by while it was in doubt whether the server skips them
  std::uint32_t swallowed_syncs_ = 0;  // by the present COPY, as far as we know
  std::uint32_t doubtful_syncs_ = 0;   // of a failed COPY: may still be answered
  TimePoint work_start_{};
  TimePoint owed_since_{};  // of what is outstanding, up to its ReadyForQuery
  TimePoint transaction_start_{};
  std::optional<TimePoint> paused_since_;
  ErrorScanner error_;
  OutstandingQueue outstanding_;
};

template <class Observer>
SessionTracker::FrontendScan SessionTracker::on_frontend(ByteView bytes, TimePoint now, Observer& observer) {
  if (frontend_end_ != FrontendEnd::None) return {0, frontend_end_};
  const std::size_t given_bytes = bytes.size();
  while (!bytes.empty()) {
    if (!frontend_.in_body()) {
      if (frontend_.at_boundary() && bytes.front() == std::byte{'X'}) {
        frontend_end_ = FrontendEnd::Terminate;
        return {given_bytes - bytes.size(), frontend_end_};
      }
      if (!frontend_.take_header(bytes)) break;
      if (!frontend_.length_valid() || !frontend_type_valid(frontend_.type())) {
        frontend_end_ = FrontendEnd::Malformed;
        return {given_bytes - bytes.size(), frontend_end_};
      }
    }
    const ByteView piece = frontend_.take_body(bytes);
    const bool complete = !frontend_.in_body();
    observer.on_piece(frontend_.type(), piece, complete, now);
    if (complete) on_frontend_message(frontend_.type(), frontend_.body_bytes(), now);
  }
  return {given_bytes, FrontendEnd::None};
}

template <class Observer>
void SessionTracker::on_backend(ByteView bytes, TimePoint now, Observer& observer) {
  while (!backend_malformed_) {
    if (!backend_.in_body()) {
      if (!backend_.take_header(bytes)) return;
      if (!backend_.length_valid() || (backend_.type() == 'Z' && backend_.body_left() != 1)) [[unlikely]] {
        backend_malformed_ = true;
        return;
      }
    }
    const ByteView piece = backend_.take_body(bytes);
    const char type = backend_.type();
    if (type == 'E') [[unlikely]]
      error_.feed(piece);
    if (type == 'Z' && !piece.empty()) ready_status_ = std::to_integer<char>(piece[0]);
    if (backend_.in_body()) return;

    Effect effect;
    if (type == 'Z') {
      effect = on_ready(ready_status_);
      if (backend_malformed_) return;
    } else if (type == 'E') {
      const ErrorClass error = error_.finish();
      effect = on_error(error);
      observer.on_error(error);
    } else {
      effect = on_backend_message(type);
    }
    if (effect.sample) {
      observer.on_sample(now > work_start_ ? now - work_start_ : TimePoint::duration{}, *effect.sample, now);
      work_start_ = now;
    }
    if (type == 'Z') {
      if (effect.transaction_ended) {
        observer.on_transaction_end(now - transaction_start_);
        transaction_start_ = now;
      }
      work_start_ = now;
      owed_since_ = now;
      observer.on_ready(Ready{status_, outstanding_.empty(), now});
    }
  }
}

}  // namespace sluice::protocol
