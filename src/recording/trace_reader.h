#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>

#include "recording/block.h"

namespace sluice::recording {

// Where a trace cannot be read on, and why: one line for people.
struct Damage {
  std::uint64_t byte = 0;  // of the file, where what is damaged begins
  std::string what;
};

// Reads a trace from a stream: everything before the first damage, then no more.
// Shape:  memory for one block. A file that was cut at the end of a block is as good as a whole one.
// Errors: damage() after next() gave nullopt; nothing when that was the end.
class TraceReader {
 public:
  explicit TraceReader(std::istream& in);

  const FileHeader& header() const noexcept { return header_; }
  std::optional<Record> next();
  const std::optional<Damage>& damage() const noexcept { return damage_; }

 private:
  std::size_t read(std::span<std::byte> room);
  bool read_block();
  void damaged(std::uint64_t byte, std::string what);

  std::istream& in_;
  FileHeader header_;
  std::uint64_t position_ = 0;     // in the file
  std::uint64_t block_began_ = 0;  // where the header of the present one is
  Bytes records_;
  std::optional<RecordDecoder> decoder_;
  bool over_ = false;
  std::optional<Damage> damage_;
};

}  // namespace sluice::recording
