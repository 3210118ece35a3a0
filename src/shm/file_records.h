#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "profile/read_profile.h"

namespace sluice::shm {

// Records of a profile's file, read by system calls instead of through a mapping: whoever cuts the file off
// while it is read makes a read come short, where a mapping would end the process by SIGBUS.
//
// A range is copied three times. A record whose sequence is the same even number in the first and the third
// copy was not written while the second was made, so the second is whole; the few for which that fails are
// read one by one. Errors: Truncated; Busy; what the kernel says. The descriptor stays the caller's.
class FileRecords final : public profile::RecordSource {
 public:
  // Reads this file from now on. Room for copies is kept from one reading to the next.
  void look_at(int fd) noexcept { fd_ = fd; }
  Result<void> prepare(std::span<const Range> ranges) override;
  Result<void> load(std::uint64_t offset, std::span<std::byte> payload) override;

 private:
  struct Copied {
    Range range;
    std::size_t at = 0;  // in each of the copies
  };

  const Copied* find(std::uint64_t offset, std::size_t size) noexcept;
  Result<void> load_alone(std::uint64_t offset, std::span<std::byte> payload);

  int fd_ = -1;
  std::vector<Copied> ranges_;  // by offset
  std::size_t last_ = 0;        // where find() was right
  std::array<std::vector<std::byte>, 3> copies_;
};

// All of `room` from `offset` on. Truncated where the file ends before.
Result<void> read_exactly(int fd, std::uint64_t offset, std::span<std::byte> room) noexcept;

}  // namespace sluice::shm
