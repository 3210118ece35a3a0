#include "recording/block.h"

#include <zlib.h>

#include "base/assert.h"

namespace sluice::recording {
namespace {

constexpr std::string_view kFileMagic = "SLUICTRC";
constexpr std::string_view kBlockMagic = "BLCK";

std::uint32_t checksum(ByteView bytes) noexcept {
  // zlib counts in 32 bits; nothing here is longer.
  SLUICE_ASSERT(bytes.size() <= kBlockStoredBytesMax);
  return static_cast<std::uint32_t>(
      crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
}

void append_checksum(Bytes& out, std::size_t from) {
  put_fixed(out, checksum(ByteView(out).subspan(from)));
}

// The last four bytes are the checksum of those before.
bool checksum_holds(ByteView header) noexcept {
  const std::size_t checked = header.size() - sizeof(std::uint32_t);
  return VarintReader(header.subspan(checked)).fixed<std::uint32_t>() == checksum(header.first(checked));
}

}  // namespace

void append_file_header(Bytes& out, const FileHeader& header) {
  const std::size_t from = out.size();
  append(out, as_bytes(kFileMagic));
  put_fixed(out, header.version);
  put_fixed(out, std::uint16_t{0});
  put_fixed(out, std::uint32_t{0});
  put_fixed(out, static_cast<std::uint64_t>(header.began_us));
  append_checksum(out, from);
  SLUICE_ASSERT(out.size() - from == kFileHeaderBytes);
}

std::string_view problem_text(HeaderProblem problem) noexcept {
  switch (problem) {
    case HeaderProblem::NotATrace:
      return "is not a trace";
    case HeaderProblem::TooNew:
      return "is of a version that this program does not know: use the sluice that wrote it, or a later one";
    case HeaderProblem::Damaged:
      return "has a damaged header";
  }
  return "";
}

ReadFileHeader read_file_header(std::span<const std::byte, kFileHeaderBytes> bytes) noexcept {
  ReadFileHeader out;
  if (as_text(bytes.first(kFileMagic.size())) != kFileMagic) {
    out.problem = HeaderProblem::NotATrace;
    return out;
  }
  if (!checksum_holds(bytes)) {
    out.problem = HeaderProblem::Damaged;
    return out;
  }
  VarintReader in(bytes.subspan(kFileMagic.size()));
  out.header.version = *in.fixed<std::uint16_t>();
  in.fixed<std::uint16_t>();
  in.fixed<std::uint32_t>();
  out.header.began_us = static_cast<std::int64_t>(*in.fixed<std::uint64_t>());
  if (out.header.version == 0 || out.header.version > kVersion) out.problem = HeaderProblem::TooNew;
  return out;
}

std::optional<BlockHeader> read_block_header(std::span<const std::byte, kBlockHeaderBytes> bytes) noexcept {
  if (as_text(bytes.first(kBlockMagic.size())) != kBlockMagic || !checksum_holds(bytes)) return std::nullopt;
  VarintReader in(bytes.subspan(kBlockMagic.size()));
  BlockHeader out;
  out.raw_bytes = *in.fixed<std::uint32_t>();
  out.stored_bytes = *in.fixed<std::uint32_t>();
  out.checksum = *in.fixed<std::uint32_t>();
  in.fixed<std::uint32_t>();
  const auto base = *in.fixed<std::uint64_t>();
  if (out.raw_bytes == 0 || out.raw_bytes > kBlockRawBytesMax || out.stored_bytes == 0 ||
      out.stored_bytes > kBlockStoredBytesMax || base > static_cast<std::uint64_t>(kSpanMax.count()))
    return std::nullopt;
  out.base = Offset(static_cast<std::int64_t>(base));
  return out;
}

namespace {

// Few bits for frequent bytes, and no search for sequences that were there before: among numbers there are
// few. The search takes twice the time and finds nothing that this does not save as well.
Bytes compressed(ByteView records) {
  z_stream stream{};
  constexpr int kWindowBits = 15, kMemoryLevel = 8;
  int result = deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, kWindowBits, kMemoryLevel, Z_HUFFMAN_ONLY);
  SLUICE_ASSERT(result == Z_OK);  // nothing can fail but memory
  Bytes out(deflateBound(&stream, static_cast<uLong>(records.size())));
  SLUICE_ASSERT(out.size() <= kBlockStoredBytesMax);
  stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(records.data()));  // it only reads
  stream.avail_in = static_cast<uInt>(records.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  result = deflate(&stream, Z_FINISH);
  SLUICE_ASSERT(result == Z_STREAM_END);  // the room suffices
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

}  // namespace

void append_block(Bytes& out, ByteView records, Offset base) {
  SLUICE_ASSERT(!records.empty() && records.size() <= kBlockRawBytesMax);
  const Bytes payload = compressed(records);
  const std::size_t from = out.size();
  append(out, as_bytes(kBlockMagic));
  put_fixed(out, static_cast<std::uint32_t>(records.size()));
  put_fixed(out, static_cast<std::uint32_t>(payload.size()));
  put_fixed(out, checksum(payload));
  put_fixed(out, std::uint32_t{0});
  put_fixed(out, static_cast<std::uint64_t>(base.count()));
  append_checksum(out, from);
  SLUICE_ASSERT(out.size() - from == kBlockHeaderBytes);
  append(out, payload);
}

std::optional<Bytes> unpack(const BlockHeader& header, ByteView stored) {
  if (stored.size() != header.stored_bytes || checksum(stored) != header.checksum) return std::nullopt;
  Bytes records(header.raw_bytes);
  uLongf length = header.raw_bytes;
  if (uncompress(reinterpret_cast<Bytef*>(records.data()), &length,
                 reinterpret_cast<const Bytef*>(stored.data()), static_cast<uLong>(stored.size())) != Z_OK ||
      length != header.raw_bytes)
    return std::nullopt;
  return records;
}

}  // namespace sluice::recording
