#include "recording/trace_reader.h"

#include <array>
#include <istream>

namespace sluice::recording {

TraceReader::TraceReader(std::istream& in) : in_(in) {
  std::array<std::byte, kFileHeaderBytes> bytes{};
  if (read(bytes) < bytes.size()) {
    damaged(0, "the file is shorter than a trace's header");
    return;
  }
  const ReadFileHeader found = read_file_header(bytes);
  header_ = found.header;
  if (found.problem) damaged(0, "the file " + std::string(problem_text(*found.problem)));
}

std::size_t TraceReader::read(std::span<std::byte> room) {
  in_.read(reinterpret_cast<char*>(room.data()), static_cast<std::streamsize>(room.size()));
  const auto count = static_cast<std::size_t>(in_.gcount());
  position_ += count;
  return count;
}

void TraceReader::damaged(std::uint64_t byte, std::string what) {
  over_ = true;
  damage_ = Damage{byte, std::move(what)};
}

bool TraceReader::read_block() {
  block_began_ = position_;
  std::array<std::byte, kBlockHeaderBytes> bytes{};
  const std::size_t got = read(bytes);
  if (got == 0) {
    over_ = true;
    return false;
  }
  if (got < bytes.size()) return damaged(block_began_, "a block's header is cut off"), false;
  const auto header = read_block_header(bytes);
  if (!header) return damaged(block_began_, "a block's header is damaged"), false;
  Bytes stored(header->stored_bytes);
  if (read(stored) < stored.size()) return damaged(block_began_, "a block is cut off"), false;
  auto records = unpack(*header, stored);
  if (!records) return damaged(block_began_, "a block is damaged"), false;
  records_ = std::move(*records);
  decoder_.emplace(records_, header->base);
  return true;
}

std::optional<Record> TraceReader::next() {
  while (!over_) {
    if (!decoder_ || decoder_->at_end()) {
      if (!read_block()) return std::nullopt;
      continue;
    }
    if (auto record = decoder_->next()) return record;
    damaged(block_began_, "a block holds a record that cannot be read");
  }
  return std::nullopt;
}

}  // namespace sluice::recording
