#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/bytes.h"

// What every fuzz target defines.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace sluice::fuzz {

// The fuzzer's bytes, taken from the front: choices first, then content.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : rest_(reinterpret_cast<const std::byte*>(data), size) {}

  bool empty() const { return rest_.empty(); }
  std::uint8_t byte() { return static_cast<std::uint8_t>(take(1).empty() ? 0 : last_); }
  // At most `count` bytes.
  ByteView take(std::size_t count) {
    const ByteView taken = rest_.first(std::min(count, rest_.size()));
    rest_ = rest_.subspan(taken.size());
    if (!taken.empty()) last_ = std::to_integer<std::uint8_t>(taken.back());
    return taken;
  }
  ByteView rest() { return take(rest_.size()); }

 private:
  ByteView rest_;
  std::uint8_t last_ = 0;
};

// Hands `bytes` to a machine that lends its buffer.
template <class Machine>
void feed(Machine& machine, ByteView bytes) {
  const auto room = machine.prepare(bytes.size());
  std::copy(bytes.begin(), bytes.end(), room.begin());
  machine.commit(bytes.size());
}

}  // namespace sluice::fuzz
