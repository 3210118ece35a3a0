#include "base/bytes.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(ByteReader, ReadsWhatByteWriterWrote) {
  Bytes bytes;
  ByteWriter out(bytes);
  out.u8(7);
  out.u16(0xBEEF);
  out.i32(-2);
  out.cstring("name");
  ByteReader in(bytes);
  EXPECT_EQ(in.u8(), 7);
  EXPECT_EQ(in.u16(), 0xBEEF);
  EXPECT_EQ(in.i32(), -2);
  EXPECT_EQ(in.cstring(), "name");
  EXPECT_EQ(in.remaining(), 0u);
}

TEST(ByteReader, LeavesItsPositionWhereAReadWouldPassTheEnd) {
  const Bytes three(3);
  ByteReader in(three);
  EXPECT_EQ(in.u32(), std::nullopt);
  EXPECT_EQ(in.take(4), std::nullopt);
  EXPECT_EQ(in.remaining(), 3u);
}

TEST(ByteReader, FindsNoStringWithoutItsTerminator) {
  const Bytes text(as_bytes("abc").begin(), as_bytes("abc").end());
  ByteReader in(text);
  EXPECT_EQ(in.cstring(), std::nullopt);
  EXPECT_EQ(in.remaining(), 3u);
}

TEST(ByteWriter, PatchesALengthWrittenBefore) {
  Bytes bytes;
  ByteWriter out(bytes);
  out.u32(0);
  out.text("xy");
  out.patch_u32(0, 0x01020304);
  EXPECT_EQ(ByteReader(bytes).u32(), 0x01020304u);
  EXPECT_EQ(bytes.size(), 6u);
}

}  // namespace
}  // namespace sluice
