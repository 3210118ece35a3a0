#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "sluice/profile.h"

#include "base/bytes.h"
#include "base/result.h"
#include "profile/contents.h"

namespace sluice::profile {

// Records there is room for.
struct Capacities {
  std::uint32_t hosts = 16, servers = 16, classes = 8, routes = 256;

  bool hold(const Contents&) const noexcept;
  // These, doubled until they hold the contents.
  Capacities grown_for(const Contents&) const noexcept;
  friend bool operator==(const Capacities&, const Capacities&) = default;
};

// Where everything is. Computed by a writer, checked by a reader.
struct Layout {
  std::array<sluice_profile_table, SLUICE_PROFILE_TABLES> tables{};
  std::uint64_t file_size = 0;
  std::uint32_t state_offset = 0;
  std::uint32_t state_size = 0;

  // As this version writes it.
  static Layout of(const Capacities&) noexcept;

  const sluice_profile_table& table(sluice_profile_table_index which) const noexcept {
    return tables[static_cast<std::size_t>(which)];
  }
  std::uint64_t record(sluice_profile_table_index which, std::uint64_t index) const noexcept {
    return table(which).offset + index * table(which).record_size;
  }
};

// What the fixed part of a header says.
struct Header {
  Layout layout;
  std::uint64_t generation = 0;
  std::int64_t writer_pid = 0;
  std::int64_t started_at = 0;
};

// Judges a header, before anything else of the file is touched.
// Shape:  `bytes` is the beginning of the file, at least sizeof(sluice_profile_header) unless the file ends
// before;
//         `size_of_file` its size now. Layouts of other versions are read by what they say of themselves:
//         records may be longer, tables may follow, and what an earlier version lacked is zero.
// Errors: NotAProfile, OtherByteOrder, Incompatible, Truncated, Malformed.
Result<Header> read_header(ByteView bytes, std::uint64_t size_of_file) noexcept;

}  // namespace sluice::profile
