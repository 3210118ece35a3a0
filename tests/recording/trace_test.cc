#include <algorithm>

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
  EXPECT_EQ(read_all(std::string(as_text(later))).damage->what, "the file is of a later version");
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

// A block that claims more than its bounds, with checksums that hold.
TEST(Trace, RefusesABlockBeyondItsBounds) {
  for (const std::size_t field : {4U, 8U}) {  // raw and stored bytes
    Bytes file;
    append_file_header(file, {});
    const Bytes records(10);
    append_block(file, records, Offset(0));
    Bytes header(file.begin() + kFileHeaderBytes, file.begin() + kFileHeaderBytes + kBlockHeaderBytes);
    header[field + 3] = std::byte{0x7F};
    std::array<std::byte, kBlockHeaderBytes> bytes{};
    std::copy(header.begin(), header.end(), bytes.begin());
    EXPECT_FALSE(read_block_header(bytes));
  }
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
