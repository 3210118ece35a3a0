// Input: records of one byte (high bit: from the server; the rest: length) and that many bytes of that side's
// stream. Two sessions, one fed whole records and one fed byte by byte, must find the same calls.
#include <string>
#include <vector>

#include "base/assert.h"
#include "protocol/session_tracker.h"
#include "tests/fuzz/fuzz_input.h"
#include "trace/session_calls.h"

namespace {

using sluice::ByteView;
using sluice::protocol::SessionTracker;
using namespace sluice::trace;

class Side : public CallSink {
 public:
  void feed(bool from_server, ByteView bytes, TimePoint now) {
    if (from_server)
      tracker_.on_backend(bytes, now, *this);
    else
      tracker_.on_frontend(bytes, now, calls_);
    SLUICE_ASSERT(calls_.statement_count() <= SessionCalls::kStatementsMax);
    SLUICE_ASSERT(calls_.pending_count() <= SessionCalls::kPendingMax);
  }
  void on_sample(std::chrono::nanoseconds, sluice::protocol::SampleKind,
                 sluice::protocol::SessionTracker::TimePoint) {}
  void on_error(const sluice::protocol::ErrorClass&) { calls_.on_error(); }
  void on_ready(const SessionTracker::Ready& ready) { calls_.on_ready(ready.status, ready.idle, ready.at); }
  void on_transaction_end(std::chrono::nanoseconds) {}
  void finished(const Call& call, const RouteName& route) override {
    SLUICE_ASSERT(route && !(*route).empty() && call.begin <= call.end && call.response.count() >= 0);
    seen.push_back(*route + ' ' + std::to_string(call.trace.high) + ' ' + std::to_string(call.trace.low) +
                   ' ' + std::to_string((call.end - call.begin).count()) + (call.failed ? " failed" : ""));
  }

  std::vector<std::string> seen;

 private:
  SessionTracker tracker_;
  RouteNames names_;
  SessionCalls calls_{*this, names_, std::chrono::seconds(1)};
};

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  sluice::fuzz::Input input(data, size);
  Side whole;
  Side bytewise;
  TimePoint now{};
  while (!input.empty()) {
    now += std::chrono::milliseconds(1);
    const std::uint8_t record = input.byte();
    const bool from_server = (record & 0x80) != 0;
    const ByteView bytes = input.take(record & 0x7F);
    whole.feed(from_server, bytes, now);
    for (std::size_t i = 0; i < bytes.size(); ++i)
      bytewise.feed(from_server, bytes.subspan(i, 1), now);
    SLUICE_ASSERT(whole.seen == bytewise.seen);
  }
  return 0;
}
