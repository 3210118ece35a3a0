// Input: records of one byte (high bit: from the server; the rest: length) and that many bytes of that side's
// stream. Two trackers, one fed whole records and one fed byte by byte, must agree at each record's end.
#include "base/assert.h"
#include "protocol/session_tracker.h"
#include "tests/fuzz/fuzz_input.h"

namespace {

using sluice::ByteView;
using sluice::protocol::SessionTracker;

struct Counts {
  int samples = 0, errors = 0, ready = 0, transactions = 0;
  void on_sample(std::chrono::nanoseconds service, sluice::protocol::SampleKind,
                 sluice::protocol::SessionTracker::TimePoint) {
    SLUICE_ASSERT(service.count() >= 0);
    ++samples;
  }
  void on_error(const sluice::protocol::ErrorClass&) { ++errors; }
  void on_ready(const SessionTracker::Ready&) { ++ready; }
  void on_transaction_end(std::chrono::nanoseconds) { ++transactions; }
  bool operator==(const Counts&) const = default;
};

struct Side {
  SessionTracker tracker;
  Counts counts;
  std::size_t forwarded_bytes = 0;

  void feed(bool from_server, ByteView bytes, SessionTracker::TimePoint now) {
    if (from_server)
      tracker.on_backend(bytes, now, counts);
    else
      forwarded_bytes += tracker.on_frontend(bytes, now).forward_bytes;
    SLUICE_ASSERT(tracker.check_invariant());
    SLUICE_ASSERT(!tracker.clean_for_reuse() || !tracker.owes_answer());
  }
  bool operator==(const Side& other) const {
    return counts == other.counts && forwarded_bytes == other.forwarded_bytes &&
           tracker.owes_answer() == other.tracker.owes_answer() &&
           tracker.clean_for_reuse() == other.tracker.clean_for_reuse() &&
           tracker.transaction_status() == other.tracker.transaction_status() &&
           tracker.backend_malformed() == other.tracker.backend_malformed() &&
           tracker.fatal_seen() == other.tracker.fatal_seen() && tracker.full() == other.tracker.full();
  }
};

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  sluice::fuzz::Input input(data, size);
  Side whole;
  Side bytewise;
  SessionTracker::TimePoint now{};
  while (!input.empty()) {
    now += std::chrono::milliseconds(1);
    const std::uint8_t record = input.byte();
    const bool from_server = (record & 0x80) != 0;
    const ByteView bytes = input.take(record & 0x7F);
    whole.feed(from_server, bytes, now);
    for (std::size_t i = 0; i < bytes.size(); ++i)
      bytewise.feed(from_server, bytes.subspan(i, 1), now);
    SLUICE_ASSERT(whole == bytewise);
  }
  return 0;
}
