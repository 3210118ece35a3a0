#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.h"
#include "profile/contents.h"
#include "profile/layout.h"

namespace sluice::profile {

// Where a reader takes records from.
class RecordSource {
 public:
  struct Range {
    std::uint64_t offset = 0, size = 0;
  };

  virtual ~RecordSource() = default;
  // Said before the records in these ranges are asked for; they lie within the file.
  virtual Result<void> prepare(std::span<const Range> ranges) = 0;
  // The payload of the record at `offset` (which begins with its sequence), as of one moment.
  // Errors: Busy when it was being written each time; others as the source has them.
  virtual Result<void> load(std::uint64_t offset, std::span<std::byte> payload) = 0;
};

// Memory that is mapped, or that a publisher in this process writes.
class MappedRecords final : public RecordSource {
 public:
  explicit MappedRecords(std::span<const std::byte> memory) : memory_(memory) {}
  Result<void> prepare(std::span<const Range>) override { return {}; }
  Result<void> load(std::uint64_t offset, std::span<std::byte> payload) override;

 private:
  const std::span<const std::byte> memory_;
};

// Everything that a profile says; each record as of one moment, and all indexes of one shape.
// Errors: Busy where the writer got in the way again and again, or died within; Malformed for counts beyond
// the
//         capacities; those of the source. Never waits: the number of tries is bounded.
Result<Profile> read_profile(RecordSource& source, const Header& header);

}  // namespace sluice::profile
