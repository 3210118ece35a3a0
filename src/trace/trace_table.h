#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <unordered_map>

#include "base/strong_id.h"
#include "trace/call.h"
#include "trace/serial_chain.h"

namespace sluice::trace {

// A route as the table of routes numbers it: never given to another one.
using RouteNumber = StrongId<struct RouteNumberTag, std::uint64_t>;

// Groups calls into requests, by trace, compute host and route, over all sessions. A request is closed when
// no call of it has come for a while, and is then counted. Shape:  at most traces_max requests are open, and
// calls_max of their calls held; beyond, those that have been
//         quiet for longest are closed early. O(1) per call, O(n log n) per request.
// Time:   that at which calls are added, not theirs: they come in batches, late by as much as a thread holds
//         them back. idle has to allow for that.
// Thread: one.
class TraceTable {
 public:
  struct Settings {
    std::chrono::nanoseconds idle{};
    std::size_t traces_max = 65536;
    std::size_t calls_max = 1'000'000;
    // Secret: clients choose their traces, and could choose 65536 that hash alike.
    std::uint64_t seed = 0;
  };
  // n_serial >= 1. `close` is called from add() and close_idle().
  using Close = std::function<void(RouteNumber, std::uint32_t n_serial)>;

  TraceTable(const Settings& settings, Close close)
      : settings_(settings), close_(std::move(close)), by_key_(0, KeyHash{settings.seed}) {}

  void set_idle(std::chrono::nanoseconds idle) noexcept { settings_.idle = idle; }
  // `call` has a trace.
  void add(const Call& call, std::uint32_t host, RouteNumber route, TimePoint now);
  void close_idle(TimePoint now);

  std::size_t open() const noexcept { return traces_.size(); }
  std::size_t calls_held() const noexcept { return calls_; }
  bool check_invariant() const;

 private:
  struct Key {
    TraceId trace;
    RouteNumber route;
    std::uint32_t host = 0;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    std::uint64_t seed = 0;
    // SplitMix64's finalizer: every bit in changes every bit out.
    static std::uint64_t mixed(std::uint64_t z) noexcept {
      z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
      z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
      return z ^ (z >> 31);
    }
    std::size_t operator()(const Key& key) const noexcept {
      const std::uint64_t id = mixed(mixed(key.trace.high ^ seed) + key.trace.low);
      return mixed(id ^ (key.route.value() << 16 ^ key.host));
    }
  };
  struct Trace {
    Key key;
    SerialChain chain;
    TimePoint touched;
  };

  void close_oldest();

  Settings settings_;
  Close close_;
  std::list<Trace> traces_;  // longest quiet first
  std::unordered_map<Key, std::list<Trace>::iterator, KeyHash> by_key_;
  std::size_t calls_ = 0;
};

}  // namespace sluice::trace
