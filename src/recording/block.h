#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/bytes.h"
#include "recording/record.h"

namespace sluice::recording {

// A trace file is a file header and then blocks, each a block header and a payload of records, compressed and
// with a checksum of its own. docs/recording.md has the layout byte by byte.
// What is written. Those before are read as well: version 2 has no Who and no Whole, version 1 no Queue
// either.
inline constexpr std::uint16_t kVersion = 3;
inline constexpr std::size_t kFileHeaderBytes = 28;
inline constexpr std::size_t kBlockHeaderBytes = 32;
inline constexpr std::size_t kBlockRawBytesMax = 1024 * 1024;
inline constexpr std::size_t kBlockStoredBytesMax = kBlockRawBytesMax + 64 * 1024;

struct FileHeader {
  std::uint16_t version = kVersion;
  std::int64_t began_us = 0;  // since 1970, UTC
};
void append_file_header(Bytes& out, const FileHeader&);

enum class HeaderProblem { NotATrace, TooNew, Damaged };
std::string_view problem_text(HeaderProblem) noexcept;
struct ReadFileHeader {
  FileHeader header;
  std::optional<HeaderProblem> problem;
};
ReadFileHeader read_file_header(std::span<const std::byte, kFileHeaderBytes>) noexcept;

struct BlockHeader {
  std::uint32_t raw_bytes = 0, stored_bytes = 0;  // not 0, and within their bounds
  std::uint32_t checksum = 0;                     // CRC-32 of what is stored
  Offset base{};                                  // the first moment is a difference from it
};
// nullopt: no such header, or a damaged one.
std::optional<BlockHeader> read_block_header(std::span<const std::byte, kBlockHeaderBytes>) noexcept;

// The records' bytes as a block: header and payload. Shape: 1 to kBlockRawBytesMax bytes.
void append_block(Bytes& out, ByteView records, Offset base);
// The records' bytes back; nullopt when checksum, compression or size do not hold.
std::optional<Bytes> unpack(const BlockHeader&, ByteView stored);

}  // namespace sluice::recording
