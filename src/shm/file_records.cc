#include "shm/file_records.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <unistd.h>

#include "profile/profile_error.h"

namespace sluice::shm {
namespace {

using profile::ProfileErrc;

constexpr int kRecordTries = 100;

// What one read() has copied was loaded before what the next one copies. x86-64 keeps loads in order by
// itself. No atomic fence: ThreadSanitizer knows none, and the copies are the kernel's.
void keep_order() noexcept {
#if defined(__x86_64__)
  asm volatile("" ::: "memory");
#else
  __sync_synchronize();
#endif
}

std::uint64_t word_at(const std::byte* bytes) noexcept {
  std::uint64_t word;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

}  // namespace

Result<void> read_exactly(int fd, std::uint64_t offset, std::span<std::byte> room) noexcept {
  while (!room.empty()) {
    const ssize_t n = ::pread(fd, room.data(), room.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Error(std::error_code(errno, std::system_category()));
    if (n == 0) return ProfileErrc::Truncated;
    room = room.subspan(static_cast<std::size_t>(n));
    offset += static_cast<std::uint64_t>(n);
  }
  return {};
}

Result<void> FileRecords::prepare(std::span<const Range> ranges) {
  ranges_.clear();
  std::size_t total = 0;
  for (const Range& range : ranges) {
    ranges_.push_back({range, total});
    total += range.size;
  }
  for (std::vector<std::byte>& copy : copies_) {
    if (copy.size() < total) copy.resize(total);
    for (const Copied& c : ranges_) {
      const auto done = read_exactly(fd_, c.range.offset, std::span(copy).subspan(c.at, c.range.size));
      if (!done) return done.error();
    }
    keep_order();
  }
  std::sort(ranges_.begin(), ranges_.end(),
            [](const Copied& a, const Copied& b) { return a.range.offset < b.range.offset; });
  return {};
}

const FileRecords::Copied* FileRecords::find(std::uint64_t offset, std::size_t size) noexcept {
  const auto holds = [&](const Copied& c) {
    return offset >= c.range.offset && offset + size <= c.range.offset + c.range.size;
  };
  if (last_ < ranges_.size() && holds(ranges_[last_])) return &ranges_[last_];
  const auto after = std::upper_bound(ranges_.begin(), ranges_.end(), offset,
                                      [](std::uint64_t o, const Copied& c) { return o < c.range.offset; });
  if (after == ranges_.begin()) return nullptr;
  const Copied& c = *std::prev(after);
  last_ = static_cast<std::size_t>(&c - ranges_.data());
  return holds(c) ? &c : nullptr;
}

Result<void> FileRecords::load(std::uint64_t offset, std::span<std::byte> payload) {
  const Copied* const c = find(offset, 8 + payload.size());
  if (c == nullptr) return load_alone(offset, payload);
  const std::size_t at = c->at + static_cast<std::size_t>(offset - c->range.offset);
  const std::uint64_t sequence = word_at(copies_[0].data() + at);
  if (sequence % 2 != 0 || word_at(copies_[2].data() + at) != sequence) return load_alone(offset, payload);
  if (!payload.empty()) std::memcpy(payload.data(), copies_[1].data() + at + 8, payload.size());
  return {};
}

Result<void> FileRecords::load_alone(std::uint64_t offset, std::span<std::byte> payload) {
  std::array<std::byte, 8> before, after;
  for (int i = 0; i < kRecordTries; ++i) {
    if (const auto done = read_exactly(fd_, offset, before); !done) return done.error();
    if (word_at(before.data()) % 2 != 0) continue;
    keep_order();
    if (const auto done = read_exactly(fd_, offset + 8, payload); !done) return done.error();
    keep_order();
    if (const auto done = read_exactly(fd_, offset, after); !done) return done.error();
    if (before == after) return {};
  }
  return ProfileErrc::Busy;
}

}  // namespace sluice::shm
