#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "profile/contents.h"
#include "profile/layout.h"

namespace sluice::profile {

// Who writes, for the header.
struct Identity {
  std::uint64_t generation = 0;
  std::int64_t writer_pid = 0;
  Moment started_at{};
  std::int64_t started_at_unix = 0;  // nanoseconds since 1970
};

// The writer's side of a profile in memory.
// Shape:  `memory` is zero, 8-byte aligned, Layout::of(capacities).file_size long, outlives the publisher,
// and is
//         written by nobody else. Readers may look at it at any time, in other processes too.
// Errors: contents that do not fit, or are not consistent, are the caller's fault and end the program.
// Cost:   publish() is O(contents), and writes only the records that differ from the last ones. One thread.
class Publisher {
 public:
  struct Beat {
    Moment now{};
    std::int64_t now_unix = 0;
    Moment contents_at{};
    Nanos interval{};
  };

  Publisher(std::span<std::byte> memory, const Capacities&, const Identity&);

  bool fits(const Contents& contents) const noexcept { return capacities_.hold(contents); }
  const Capacities& capacities() const noexcept { return capacities_; }
  void publish(const Contents&, const Beat&);
  // Only that the writer lives: heartbeat without new contents.
  void beat(const Beat&);
  // The last word: readers see that the writer has ended in order.
  void close(const Beat&);

 private:
  template <class Record>
  void store(sluice_profile_table_index table, std::uint64_t index, const Record& record);
  void store_shares(std::uint64_t index, std::span<const double> shares);
  void store_state(const Beat&);
  void store_tables(const Contents&, bool all);
  std::byte* at(std::uint64_t offset) const noexcept { return memory_.data() + offset; }

  const std::span<std::byte> memory_;
  const Capacities capacities_;
  const Layout layout_;
  sluice_profile_state state_{};
  Contents last_;
};

}  // namespace sluice::profile
