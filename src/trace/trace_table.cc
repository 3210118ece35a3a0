#include "trace/trace_table.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace sluice::trace {
namespace {

constexpr std::size_t kPlacesMin = 64;

// SplitMix64's finalizer: every bit in changes every bit out.
constexpr std::uint64_t mixed(std::uint64_t z) noexcept {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

}  // namespace

TraceTable::TraceTable(const Settings& settings, Close close)
    : settings_(settings), close_(std::move(close)), places_(kPlacesMin) {}

std::uint32_t TraceTable::hash_of(const Key& key) const noexcept {
  const std::uint64_t id = mixed(mixed(key.trace.high ^ settings_.seed) + key.trace.low);
  return static_cast<std::uint32_t>(mixed(id ^ mixed(key.route.value()) ^ key.host));
}

std::size_t TraceTable::place_of(const Key& key, std::uint32_t hash) const noexcept {
  std::size_t place = hash & (places_.size() - 1);
  std::size_t left_behind = places_.size();
  for (; places_[place].slot != kNone; place = next_place(place)) {
    if (places_[place].hash != hash) continue;
    const Trace& trace = slots_[places_[place].slot];
    if (trace.key == key) return place;
    if (trace.hash != hash || !trace.key.trace) left_behind = place;
  }
  return left_behind < places_.size() ? left_behind : place;
}

bool TraceTable::has(std::size_t place, const Key& key) const noexcept {
  return places_[place].slot != kNone && slots_[places_[place].slot].key == key;
}

void TraceTable::add(const Call& call, std::uint32_t host, RouteNumber route, TimePoint now) {
  SLUICE_ASSERT(call.trace);
  const Key key{call.trace, route, host};
  const std::uint32_t hash = hash_of(key);
  const std::size_t place = place_of(key, hash);
  Slot slot = kNone;
  if (!has(place, key)) {
    if (open_ >= settings_.traces_max) close_oldest();
    slot = open_trace(key, hash, place);
  } else if (slot = places_[place].slot; slot != latest_) {
    unlink(slot);
    append(slot);
  }
  Trace& trace = slots_[slot];
  trace.touched = now;
  calls_ -= trace.chain.held();
  trace.chain.add(call.begin, call.end);
  calls_ += trace.chain.held();
  while (calls_ > settings_.calls_max && open_ > 1)
    close_oldest();
}

TraceTable::Slot TraceTable::open_trace(const Key& key, std::uint32_t hash, std::size_t place) {
  Slot slot = unused_;
  if (slot == kNone) {
    slot = static_cast<Slot>(slots_.size());
    slots_.emplace_back();
  } else {
    unused_ = slots_[slot].next;
  }
  slots_[slot].key = key;
  slots_[slot].hash = hash;
  if (places_[place].slot == kNone) ++used_;
  places_[place] = {slot, hash};
  append(slot);
  ++open_;
  if (used_ * 2 > places_.size()) rebuild_index();
  return slot;
}

void TraceTable::rebuild_index() {
  std::size_t size = places_.size();
  while (open_ * 4 > size)
    size *= 2;
  places_.assign(size, Place());
  for (Slot slot = oldest_; slot != kNone; slot = slots_[slot].next) {
    std::size_t place = slots_[slot].hash & (places_.size() - 1);
    while (places_[place].slot != kNone)
      place = next_place(place);
    places_[place] = {slot, slots_[slot].hash};
  }
  used_ = open_;
}

void TraceTable::append(Slot slot) noexcept {
  slots_[slot].previous = latest_;
  slots_[slot].next = kNone;
  (latest_ == kNone ? oldest_ : slots_[latest_].next) = slot;
  latest_ = slot;
}

void TraceTable::unlink(Slot slot) noexcept {
  const Trace& trace = slots_[slot];
  (trace.previous == kNone ? oldest_ : slots_[trace.previous].next) = trace.next;
  (trace.next == kNone ? latest_ : slots_[trace.next].previous) = trace.previous;
}

void TraceTable::give_up(Slot slot) noexcept {
  slots_[slot].key.trace = TraceId();
  slots_[slot].chain = SerialChain();
  slots_[slot].next = kNone;
  (unused_ == kNone ? unused_ : slots_[last_unused_].next) = slot;
  last_unused_ = slot;
}

void TraceTable::close_idle(TimePoint now) {
  while (oldest_ != kNone && now - slots_[oldest_].touched >= settings_.idle)
    close_oldest();
}

void TraceTable::close_oldest() {
  const Slot slot = oldest_;
  Trace& trace = slots_[slot];
  const RouteNumber route = trace.key.route;
  const std::uint32_t n_serial = trace.chain.length();
  calls_ -= trace.chain.held();
  unlink(slot);
  give_up(slot);
  --open_;
  close_(route, n_serial);
}

bool TraceTable::check_invariant() const {
  std::size_t calls = 0;
  std::size_t open = 0;
  std::size_t unused = 0;
  std::size_t used = 0;
  TimePoint last = TimePoint::min();
  Slot previous = kNone;
  for (Slot slot = oldest_; slot != kNone; slot = slots_[slot].next) {
    const Trace& trace = slots_[slot];
    if (trace.touched < last || trace.previous != previous || trace.hash != hash_of(trace.key)) return false;
    if (!trace.key.trace || places_[place_of(trace.key, trace.hash)].slot != slot) return false;
    last = trace.touched;
    previous = slot;
    calls += trace.chain.held();
    ++open;
  }
  for (Slot slot = unused_; slot != kNone; slot = slots_[slot].next) {
    if (slots_[slot].key.trace || (slots_[slot].next == kNone && slot != last_unused_)) return false;
    ++unused;
  }
  for (const Place& place : places_)
    used += place.slot != kNone ? 1 : 0;
  return latest_ == previous && calls == calls_ && open == open_ && open + unused == slots_.size() &&
         open_ <= settings_.traces_max && used == used_ && open_ <= used_ && used_ * 2 <= places_.size() &&
         places_.size() <= std::max(kPlacesMin, 8 * settings_.traces_max);
}

}  // namespace sluice::trace
