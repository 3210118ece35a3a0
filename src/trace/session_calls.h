#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/bytes.h"
#include "trace/call.h"
#include "trace/comment.h"
#include "trace/route_names.h"
#include "trace/statement_capture.h"

namespace sluice::trace {

// Which request, if any, each call of a session belongs to. Told of the client's message bodies and of each
// ReadyForQuery.
// Rules:  1. A call whose Query or Parse carries a comment belongs to the comment's trace.
//         2. Any other call in a transaction block with such a call belongs to its trace, also those of the
//            block before the comment (BEGIN). The latest comment counts.
//         3. But a Bind of a statement that was parsed under another trace makes the call untraced: it counts
//            for the route (of the block, else of the statement) and for no request. Outside a block a
//            statement belongs to the trace it was parsed under while that is the last trace that the session
//            carried a comment of, and that comment is no older than `memory`: who prepares and then executes
//            stays one request, and who comes later with the same statement is not taken for it.
//         4. A route without a traceparent makes an untraced call, too, outside such a block.
//         A comment with a trace and no route goes with the route that the session last saw of that trace.
// Order:  ReadyForQuery answers calls in the order sent. Where the server swallows some (a Sync sent into a
//         COPY, what follows an error), the count is put right when nothing is owed any more.
// Cost:   a session without comments: a look at both ends of each statement, one addition per call, no
//         allocation unless a statement spans reads. With comments, one table of at most kStatementsMax
//         named statements.
// Thread: one.
class SessionCalls {
 public:
  static constexpr std::size_t kStatementsMax = 256;  // any one is forgotten when there are more
  static constexpr std::size_t kPendingMax = 256;     // calls not answered yet; later ones are not looked at
  static constexpr std::size_t kHeldMax = 4;          // calls of a block before its first comment

  // `sink` and `names`, those of the session's thread, outlive the object.
  SessionCalls(CallSink& sink, RouteNames& names, std::chrono::nanoseconds memory)
      : sink_(sink), names_(names), memory_(memory) {}

  // A piece of a frontend message's body, in order; `complete` with the message's last one. Messages without
  // a body have one empty piece.
  void on_piece(char type, ByteView piece, bool complete, TimePoint now) {
    switch (type) {
      case 'Q':
      case 'P':
        begin_call(now);
        on_statement(type, piece, complete);
        break;
      case 'B':
      case 'C':
        begin_call(now);
        if (state_) [[unlikely]]
          on_name(type, piece, complete);
        return;
      case 'S':
      case 'F':
        begin_call(now);
        break;
      case 'D':
      case 'E':
      case 'H':
        return begin_call(now);
      default:  // COPY data is of the call under way
        return;
    }
    if (complete && type != 'P') end_call();
  }

  void on_error() noexcept { failed_ = true; }

  // `idle`: nothing is owed to the client any more.
  void on_ready(char status, bool idle, TimePoint now) {
    ++answered_;
    if (state_) [[unlikely]] {
      settle(status, now);
    } else if (status != 'I') {
      if (answered_ == sent_) hold(last_begin_, now);
    } else {
      held_count_ = 0;
    }
    if (idle && answered_ != sent_) catch_up();
    status_ = status;
    failed_ = false;
    ready_at_ = now;
  }

  // What is kept beyond the object itself, for tests of the bounds.
  std::size_t statement_count() const noexcept { return state_ ? state_->statements.size() : 0; }
  std::size_t pending_count() const noexcept { return state_ ? state_->pending.size() - state_->next : 0; }

 private:
  // A route and a trace, either of which may be missing.
  struct Place {
    RouteName route;
    TraceId trace;
  };
  struct Pending {
    std::uint32_t number = 0;  // counts from 1
    TimePoint begin{};
    Place own;           // of a comment in it
    Place bound;         // of the statement it binds
    bool binds = false;  // one that was parsed with a comment
    bool fresh = false;  // under the trace that the session was in then (rule 3)
  };
  // Exists once the session has had a comment.
  struct State {
    Pending open;                  // the call being sent
    std::vector<Pending> pending;  // sent; those before `next` are answered
    std::size_t next = 0;
    std::unordered_map<std::uint64_t, Place> statements;  // by hash of the name
    std::string head;                                     // of a Bind or Close that arrives in pieces
    Place last;                                           // of the last comment
    TimePoint last_at{};
    Place block;  // of the open transaction block
  };
  struct Held {
    TimePoint begin{}, end{};
  };

  void begin_call(TimePoint now) noexcept {
    if (in_call_) return;
    in_call_ = true;
    call_begin_ = now;
  }
  void end_call() {
    ++sent_;
    in_call_ = false;
    last_begin_ = call_begin_;
    if (state_) [[unlikely]]
      queue_call();
  }
  void on_statement(char type, ByteView piece, bool complete);
  void on_text(char type, std::string_view name, std::string_view front, std::string_view back);
  void on_name(char type, ByteView piece, bool complete);
  void on_bind(std::string_view statement);
  void queue_call();
  void settle(char status, TimePoint now);
  void place_call(const Pending& call, bool in_block, TimePoint now);
  void report_in(const Place& place, bool in_block, TimePoint begin, TimePoint end);
  void report(const Place& place, TimePoint begin, TimePoint end);
  void hold(TimePoint begin, TimePoint end) noexcept;
  void forget_answered();
  void catch_up();

  CallSink& sink_;
  RouteNames& names_;
  const std::chrono::nanoseconds memory_;
  TimePoint call_begin_{};  // of the call being sent
  TimePoint last_begin_{};  // of the call sent last
  TimePoint ready_at_{};    // the last ReadyForQuery
  std::uint32_t sent_ = 0;
  std::uint32_t answered_ = 0;
  char status_ = 'I';
  bool in_call_ = false;
  bool failed_ = false;
  RouteNames::Hint hint_ = 0;
  std::uint8_t held_count_ = 0;
  std::array<Held, kHeldMax> held_{};
  std::unique_ptr<StatementCapture> capture_;  // of a statement that arrives in pieces
  std::unique_ptr<State> state_;
};

}  // namespace sluice::trace
