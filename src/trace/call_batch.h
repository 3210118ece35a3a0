#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/call.h"

namespace sluice::trace {

// Where a session stands: numbers of its compute host and of its priority class, as the owner counts them.
struct Origin {
  std::uint32_t host = 0;
  std::uint32_t priority = 0;
  friend bool operator==(const Origin&, const Origin&) = default;
};

// Finished calls of one thread on their way to the table of traces. Says all it means by itself, so that
// nothing has to be agreed between the threads.
struct CallBatch {
  // One line of cache each: what they cost is mostly bringing them from one processor to another.
  struct alignas(64) Entry {
    Call call;
    Origin origin;
    std::uint32_t route = 0;  // index into routes
  };
  static_assert(sizeof(Entry) == 64);
  struct Route {
    std::string name;
    std::uint32_t calls = 0;  // of it in this batch
  };
  std::vector<Route> routes;  // each once
  std::vector<Entry> entries;
};

// Collects calls into batches of at most `size`. Used by one thread.
class CallBatcher {
 public:
  explicit CallBatcher(std::size_t size) : size_(size) {}

  void add(const Call& call, const RouteName& route, const Origin& origin);
  bool empty() const noexcept { return batch_.entries.empty(); }
  bool full() const noexcept { return batch_.entries.size() >= size_; }
  CallBatch take();

 private:
  std::uint32_t index_of(const RouteName& route);

  const std::size_t size_;
  CallBatch batch_;
  std::vector<RouteName> names_;                                 // of batch_.routes
  std::unordered_map<std::string_view, std::uint32_t> indices_;  // into both, by the text of names_
  // Indices by RouteName::hash(): sessions of a thread share their names. A hint, to be checked.
  static constexpr std::size_t kHints = 64;
  std::array<std::uint32_t, kHints> hints_{};
};

}  // namespace sluice::trace
