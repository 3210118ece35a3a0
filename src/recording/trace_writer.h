#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "recording/block.h"

namespace sluice::recording {

// The bytes of trace files, for whoever writes them out.
// Shape:  a file begins with begin_file(), and then carries what the next ones need to be read alone: the
//         configuration and, at their first use, names. Records may come in any order of time; those of one
//         admission in order.
// Cost:   add() O(bytes of the record); a block that is full is compressed in it. Memory: a block.
// Thread: none of its own.
class TraceWriter {
 public:
  struct Settings {
    std::size_t block_bytes = 128 * 1024;  // of records; a block is a little longer
    std::uint64_t file_bytes_max = 64 * 1024 * 1024;
  };
  TraceWriter() : TraceWriter(Settings()) {}
  explicit TraceWriter(const Settings&);

  // Drops what was not taken, and starts over: moments are from now on counted from `began_us`.
  void begin_file(std::int64_t began_us);
  // The id of a name in this file. Beyond kNameIdMax names of a kind all others are the last one.
  NameId name(NameKind, std::string_view text);
  // The id in this file of those that are alike in all but it; beyond kNameIdMax as above.
  NameId who(const Who&);
  void add(const Record&);
  void add(const Whole&);
  // Ends the block that is being filled, if there is anything in it.
  void flush();

  // What can be written out.
  bool has_bytes() const noexcept { return !ready_.empty(); }
  Bytes take() noexcept { return std::exchange(ready_, {}); }
  // The file is as long as it should get: begin another before the next record.
  bool full() const noexcept { return file_bytes_ >= settings_.file_bytes_max; }
  std::uint64_t file_bytes() const noexcept { return file_bytes_; }

 private:
  void begin_block_at(Offset);
  void end_if_full();

  Settings settings_;
  // A name is looked up without becoming a string.
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  using Ids = std::unordered_map<std::string, NameId, Hash, std::equal_to<>>;

  std::array<Ids, kNameKindCount> names_;
  using WhoKey = std::tuple<NameId, std::optional<NameId>, std::optional<NameId>, std::optional<NameId>>;
  std::map<WhoKey, NameId> who_;
  Bytes records_;  // of the block that is being filled
  Offset base_{};
  RecordEncoder encoder_;
  Bytes ready_;
  std::uint64_t file_bytes_ = 0;
};

}  // namespace sluice::recording
