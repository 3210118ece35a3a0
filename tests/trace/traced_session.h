#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/backend_messages.h"
#include "protocol/error_response.h"
#include "protocol/frontend_messages.h"
#include "protocol/session_tracker.h"
#include "trace/session_calls.h"

namespace sluice::trace::test {

inline TimePoint at(std::int64_t ms) {
  return TimePoint(std::chrono::milliseconds(ms));
}

// "/*route='..',traceparent='..'*/" of the trace with that number.
inline std::string comment(std::string_view route, std::uint64_t trace) {
  std::string digits(32, '0');
  for (std::size_t i = 0; i < 16; ++i)
    digits[31 - i] = "0123456789abcdef"[trace >> (4 * i) & 15];
  return " /*route='" + std::string(route) + "',traceparent='00-" + digits + "-00000000000000a1-01'*/";
}

// A session as the relay sees it: real messages through a SessionTracker, whose observer it is. What its
// calls were found to be is in `calls`.
class TracedSession : public CallSink {
 public:
  struct Seen {
    std::string route;
    std::uint64_t trace;  // 0: untraced
    TimePoint begin, end;
    bool failed;
  };
  explicit TracedSession(std::chrono::nanoseconds memory = std::chrono::seconds(5))
      : calls_of(*this, names, memory) {}

  // Of the client; `when` is the time from now on.
  void query(std::string_view sql, std::int64_t when) {
    Bytes bytes;
    protocol::append_query(bytes, sql);
    send(bytes, when);
  }
  void parse(std::string_view name, std::string_view sql, std::int64_t when) {
    Bytes body;
    ByteWriter writer(body);
    writer.cstring(name);
    writer.cstring(sql);
    writer.u16(0);
    send('P', body, when);
  }
  void bind(std::string_view name, std::int64_t when) {
    Bytes bytes;
    protocol::append_bind(bytes, "", name);
    send(bytes, when);
  }
  void execute(std::int64_t when) {
    Bytes bytes;
    protocol::append_execute(bytes, "", 0);
    send(bytes, when);
  }
  void close(std::string_view name, std::int64_t when) {
    Bytes body;
    ByteWriter writer(body);
    writer.u8('S');
    writer.cstring(name);
    send('C', body, when);
  }
  void sync(std::int64_t when) { send('S', {}, when); }
  void send(char type, ByteView body, std::int64_t when) {
    Bytes bytes;
    protocol::append_message(bytes, type, body);
    send(bytes, when);
  }
  // In pieces of `piece` bytes, as they may arrive.
  void send(ByteView bytes, std::int64_t when) {
    for (std::size_t i = 0; i < bytes.size(); i += piece)
      tracker.on_frontend(bytes.subspan(i, std::min(piece, bytes.size() - i)), at(when), calls_of);
  }

  // Of the server.
  void ready(std::int64_t when, char status = 'I') {
    Bytes bytes;
    protocol::append_ready_for_query(bytes, status);
    tracker.on_backend(bytes, at(when), *this);
  }
  void answer(char type, std::int64_t when) {
    Bytes bytes;
    if (type == 'E') {
      protocol::append_error_response(bytes, {"ERROR", "22012", "division by zero", "", ""});
    } else {
      protocol::append_message(bytes, type, as_bytes(type == 'C' ? std::string_view("SELECT 1\0", 9) : ""));
    }
    tracker.on_backend(bytes, at(when), *this);
  }
  // Parse, Bind, Execute, Sync and its answer.
  void extended(std::string_view name, std::string_view sql, std::int64_t when) {
    parse(name, sql, when);
    execute_named(name, when, '1');
  }
  void execute_named(std::string_view name, std::int64_t when, char first_answer = 0, char status = 'I') {
    bind(name, when);
    execute(when);
    sync(when);
    if (first_answer != 0) answer(first_answer, when + 1);
    answer('2', when + 1);
    answer('C', when + 1);
    ready(when + 1, status);
  }
  void simple(std::string_view sql, std::int64_t when, char status = 'I') {
    query(sql, when);
    answer('C', when + 1);
    ready(when + 1, status);
  }

  // As the tracker's observer.
  void on_sample(std::chrono::nanoseconds, protocol::SampleKind, protocol::SessionTracker::TimePoint) {}
  void on_error(const protocol::ErrorClass&) { calls_of.on_error(); }
  void on_transaction_end(std::chrono::nanoseconds) {}
  void on_ready(const protocol::SessionTracker::Ready& ready) {
    calls_of.on_ready(ready.status, ready.idle, ready.at);
  }
  void finished(const Call& call, const RouteName& route) override {
    calls.push_back({*route, call.trace.low, call.begin, call.end, call.failed});
  }

  std::size_t piece = 1'000'000;
  std::vector<Seen> calls;
  protocol::SessionTracker tracker;
  RouteNames names;
  SessionCalls calls_of;
};

}  // namespace sluice::trace::test
