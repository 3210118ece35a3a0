#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/huge_pages.h"
#include "base/strong_id.h"
#include "trace/call.h"
#include "trace/serial_chain.h"

namespace sluice::trace {

// A route as the table of routes numbers it: never given to another one.
using RouteNumber = StrongId<struct RouteNumberTag, std::uint64_t>;

// Groups calls into requests, by trace, compute host and route, over all sessions. A request is closed when
// no call of it has come for a while, and is then counted.
// Shape:  at most traces_max requests are open, and calls_max of their calls held; beyond, those that have
//         been quiet for longest are closed early. O(1) per call, O(n log n) per request. Memory grows with
//         the number of open requests to a maximum, about 120 bytes each, and is kept.
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

  TraceTable(const Settings& settings, Close close);

  void set_idle(std::chrono::nanoseconds idle) noexcept { settings_.idle = idle; }
  // `call` has a trace.
  void add(const Call& call, std::uint32_t host, RouteNumber route, TimePoint now);
  // That this call is added soon: fetches what of memory that will touch at a random place.
  void expect(const Call& call, std::uint32_t host, RouteNumber route) const noexcept {
    fetch_place(hash_of({call.trace, route, host}));
  }
  void close_idle(TimePoint now);

  std::size_t open() const noexcept { return open_; }
  std::size_t calls_held() const noexcept { return calls_; }
  std::size_t places_used() const noexcept { return used_; }  // by open traces and by closed ones
  bool check_invariant() const;

 private:
  // Traces lie in slots, linked from the one that has been quiet for longest to the latest. Slots are used
  // again in the order they were given up, so that with every call a trace of its own both follow the order
  // they lie in: memory comes before it is asked for.
  using Slot = std::uint32_t;
  static constexpr Slot kNone = 0xFFFFFFFF;

  struct Key {
    TraceId trace;
    RouteNumber route;
    std::uint32_t host = 0;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Trace {
    Key key;
    std::uint32_t hash = 0;
    Slot previous = kNone;
    Slot next = kNone;  // of an unused slot: the next unused one
    TimePoint touched{};
    SerialChain chain;
  };
  // An open-addressing table with linear probing, at most half full. A place holds enough of the hash for a
  // look at its trace to be needed for no other. Places of closed traces stay as they are: to look for each
  // when it is closed would take as long as to open the next. When half of the places are used, the table is
  // built anew, at most a quarter full.
  struct Place {
    Slot slot = kNone;
    std::uint32_t hash = 0;
  };

  std::uint32_t hash_of(const Key& key) const noexcept;
  void fetch_place(std::uint32_t hash) const noexcept {
    __builtin_prefetch(&places_[hash & (places_.size() - 1)], 1);
  }
  std::size_t next_place(std::size_t place) const noexcept { return (place + 1) & (places_.size() - 1); }
  // Where the key is, or where it would be put: where one that was closed and hashed alike, perhaps the same
  // trace before, left its place, or at a free one.
  std::size_t place_of(const Key& key, std::uint32_t hash) const noexcept;
  bool has(std::size_t place, const Key& key) const noexcept;
  Slot open_trace(const Key& key, std::uint32_t hash, std::size_t place);
  void rebuild_index();
  void append(Slot slot) noexcept;
  void unlink(Slot slot) noexcept;
  void give_up(Slot slot) noexcept;
  void close_oldest();

  Settings settings_;
  Close close_;
  std::vector<Trace> slots_;
  std::vector<Place, HugePages<Place>> places_;  // a power of two
  Slot oldest_ = kNone;
  Slot latest_ = kNone;
  Slot unused_ = kNone;  // that given up first
  Slot last_unused_ = kNone;
  std::size_t open_ = 0;
  std::size_t used_ = 0;  // places
  std::size_t calls_ = 0;
};

}  // namespace sluice::trace
