#include <algorithm>
#include <array>

#include <gtest/gtest.h>

#include "tests/recording/records.h"

namespace sluice::recording {
namespace {

bool is_prefix(const std::vector<Record>& some, const std::vector<Record>& all) {
  return some.size() <= all.size() && std::equal(some.begin(), some.end(), all.begin());
}

TEST(Trace, GivesBackWhatWasWritten) {
  const std::vector<Record> records = some_records(2'000, 1);
  for (const std::size_t block_bytes : {std::size_t{1}, std::size_t{500}, std::size_t{128 * 1024}}) {
    const ReadTrace read = read_all(file_of(records, block_bytes));
    EXPECT_FALSE(read.damage);
    EXPECT_EQ(read.header.began_us, 1'234'567);
    EXPECT_EQ(read.records, records);
  }
}

TEST(Trace, AnEmptyOneIsAHeader) {
  const ReadTrace read = read_all(file_of({}, 100));
  EXPECT_FALSE(read.damage);
  EXPECT_TRUE(read.records.empty());
}

// Cut anywhere, everything before the block that is cut is there, and the warning says where that block
// begins.
TEST(Trace, CutAtAnyByteGivesEverythingBefore) {
  const std::vector<Record> records = some_records(40, 2);
  const std::string file = file_of(records, 150);
  std::vector<std::size_t> ends;  // of whole blocks: where a cut is no damage
  for (std::size_t cut = 0; cut <= file.size(); ++cut) {
    const ReadTrace read = read_all(file.substr(0, cut));
    ASSERT_TRUE(is_prefix(read.records, records)) << cut;
    if (!read.damage) {
      ends.push_back(cut);
      continue;
    }
    if (cut < kFileHeaderBytes) {
      EXPECT_EQ(read.damage->byte, 0U);
      EXPECT_TRUE(read.records.empty());
      continue;
    }
    ASSERT_FALSE(ends.empty());
    EXPECT_EQ(read.damage->byte, ends.back()) << cut;
    EXPECT_EQ(read.records, read_all(file.substr(0, ends.back())).records) << cut;
  }
  EXPECT_GT(ends.size(), 5U);
  EXPECT_EQ(ends.front(), kFileHeaderBytes);
  EXPECT_EQ(ends.back(), file.size());
}

TEST(Trace, NoFlippedBitGoesUnseenOrChangesWhatIsBefore) {
  const std::vector<Record> records = some_records(20, 3);
  const std::string file = file_of(records, 150);
  for (std::size_t byte = 0; byte < file.size(); ++byte) {
    std::string damaged = file;
    damaged[byte] = static_cast<char>(damaged[byte] ^ (1 << byte % 8));
    const ReadTrace read = read_all(damaged);
    ASSERT_TRUE(read.damage) << byte;
    EXPECT_LE(read.damage->byte, byte);
    EXPECT_TRUE(is_prefix(read.records, records)) << byte;
    EXPECT_LT(read.records.size(), records.size());
  }
}

TEST(Trace, SaysWhatAFileIsThatIsNone) {
  EXPECT_EQ(read_all("").damage->what, "the file is shorter than a trace's header");
  EXPECT_EQ(read_all(std::string(100, 'x')).damage->what, "the file is not a trace");
  Bytes later;
  append_file_header(later, {kVersion + 1, 0});
  EXPECT_EQ(read_all(std::string(as_text(later))).damage->what,
            "the file is of a version that this program does not know: use the sluice that wrote it, or a "
            "later one");
}

// Version 1 had no record of the queue, version 2 none of whole transactions, and there is no other
// difference.
TEST(Trace, OfTheVersionsBeforeIsRead) {
  const std::vector<Record> records = {Configuration{Offset(5), "{}"}, Admission{}, Queries{0, {Query{}}},
                                       End{0, Offset(9)}};
  for (const std::uint16_t version : {std::uint16_t{1}, std::uint16_t{2}}) {
    Bytes raw, file;
    RecordEncoder encoder(raw, Offset(0));
    for (const Record& record : records)
      encoder.put(record);
    append_file_header(file, {version, 77});
    append_block(file, raw, Offset(0));
    const ReadTrace read = read_all(std::string(as_text(file)));
    EXPECT_FALSE(read.damage);
    EXPECT_EQ(read.header.version, version);
    EXPECT_EQ(read.records, records);
  }
}

TEST(Trace, ASoundBlockWithARecordOfAnotherKindIsTakenUpToIt) {
  Bytes records, file;
  RecordEncoder encoder(records, Offset(0));
  encoder.put(End{7, Offset(9)});
  records.push_back(std::byte{200});
  append_file_header(file, {});
  append_block(file, records, Offset(0));
  const ReadTrace read = read_all(std::string(as_text(file)));
  EXPECT_EQ(read.records, (std::vector<Record>{End{7, Offset(9)}}));
  EXPECT_EQ(read.damage->byte, kFileHeaderBytes);
}

using BlockHeaderBytes = std::array<std::byte, kBlockHeaderBytes>;

std::uint32_t crc_of(ByteView bytes) {
  std::uint32_t crc = ~0U;
  for (const std::byte one : bytes) {
    crc ^= static_cast<std::uint32_t>(one);
    for (int bit = 0; bit < 8; ++bit)
      crc = crc >> 1 ^ ((crc & 1) != 0 ? 0xEDB88320 : 0);
  }
  return ~crc;
}

void overwrite(BlockHeaderBytes& header, std::size_t at, std::size_t bytes, std::uint64_t value) {
  for (std::size_t i = 0; i < bytes; ++i)
    header[at + i] = static_cast<std::byte>(value >> (8 * i) & 0xFF);
}

// A sound block's header with another value in a field, and the checksum that this one has.
BlockHeaderBytes header_with(std::size_t at, std::size_t bytes, std::uint64_t value) {
  Bytes file;
  append_block(file, Bytes(10), Offset(0));
  BlockHeaderBytes header{};
  std::copy_n(file.begin(), header.size(), header.begin());
  overwrite(header, at, bytes, value);
  const std::size_t checked = header.size() - 4;
  overwrite(header, checked, 4, crc_of(ByteView(header).first(checked)));
  return header;
}

// A block that claims more than its bounds, with checksums that hold.
TEST(Trace, RefusesABlockBeyondItsBounds) {
  constexpr std::size_t kRaw = 4, kStored = 8, kBase = 20;
  constexpr auto kBaseMax = static_cast<std::uint64_t>(kSpanMax.count());
  for (const std::uint64_t good : {std::uint64_t{1}, std::uint64_t{kBlockRawBytesMax}})
    EXPECT_EQ(read_block_header(header_with(kRaw, 4, good)).value_or(BlockHeader{}).raw_bytes, good);
  for (const std::uint64_t good : {std::uint64_t{1}, std::uint64_t{kBlockStoredBytesMax}})
    EXPECT_EQ(read_block_header(header_with(kStored, 4, good)).value_or(BlockHeader{}).stored_bytes, good);
  ASSERT_TRUE(read_block_header(header_with(kBase, 8, kBaseMax)));
  EXPECT_EQ(read_block_header(header_with(kBase, 8, kBaseMax))->base, Offset(kSpanMax));
  for (const std::uint64_t bad : {std::uint64_t{0}, std::uint64_t{kBlockRawBytesMax + 1}, ~std::uint64_t{0}})
    EXPECT_FALSE(read_block_header(header_with(kRaw, 4, bad))) << bad;
  for (const std::uint64_t bad :
       {std::uint64_t{0}, std::uint64_t{kBlockStoredBytesMax + 1}, ~std::uint64_t{0}})
    EXPECT_FALSE(read_block_header(header_with(kStored, 4, bad))) << bad;
  for (const std::uint64_t bad : {kBaseMax + 1, std::uint64_t{1} << 63, ~std::uint64_t{0}})
    EXPECT_FALSE(read_block_header(header_with(kBase, 8, bad))) << bad;
}

TEST(TraceWriter, NamesAThingOnceAFile) {
  TraceWriter writer;
  writer.begin_file(0);
  EXPECT_EQ(writer.name(NameKind::Replica, "r1"), 0U);
  EXPECT_EQ(writer.name(NameKind::Replica, "r2"), 1U);
  EXPECT_EQ(writer.name(NameKind::Replica, "r1"), 0U);
  EXPECT_EQ(writer.name(NameKind::Class, "r2"), 0U);
  writer.flush();
  const Bytes first = writer.take();
  EXPECT_EQ(read_all(std::string(as_text(first))).records.size(), 3U);
  writer.begin_file(1);
  EXPECT_EQ(writer.name(NameKind::Replica, "r2"), 0U) << "each file can be read alone";
  writer.flush();
  const Bytes second = writer.take();
  EXPECT_EQ(read_all(std::string(as_text(second))).records.size(), 1U);
}

TEST(TraceWriter, SaysWhoOnceAFile) {
  TraceWriter writer;
  const Who premium{0, 0, std::nullopt, 3, 1}, freemium{0, 1, std::nullopt, 3, 1}, nobody{};
  for (int file = 0; file < 2; ++file) {
    writer.begin_file(0);
    EXPECT_EQ(writer.who(premium), 0U);
    EXPECT_EQ(writer.who(freemium), 1U);
    EXPECT_EQ(writer.who(nobody), 2U);
    EXPECT_EQ(writer.who(premium), 0U);
    writer.flush();
    const Bytes bytes = writer.take();
    EXPECT_EQ(read_all(std::string(as_text(bytes))).records,
              (std::vector<Record>{premium, Who{1, 1, std::nullopt, 3, 1}, Who{2, 0, {}, {}, {}}}));
  }
}

TEST(TraceWriter, SaysWhenAFileIsLongEnough) {
  TraceWriter writer({.block_bytes = 1'000, .file_bytes_max = 5'000});
  writer.begin_file(0);
  EXPECT_FALSE(writer.full());
  std::size_t bytes = 0;
  for (const Record& record : some_records(2'000, 4)) {
    if (writer.full()) break;
    writer.add(record);
    bytes += writer.take().size();
  }
  EXPECT_TRUE(writer.full());
  EXPECT_EQ(writer.file_bytes(), bytes);
  EXPECT_LT(bytes, 7'000U);
}

}  // namespace
}  // namespace sluice::recording
