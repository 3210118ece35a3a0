#include "protocol/frame_decoder.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "protocol/backend_messages.h"
#include "protocol/protocol_error.h"

namespace sluice::protocol {
namespace {

using SeenFrames = std::vector<std::string>;

void feed(FrameDecoder& decoder, ByteView bytes, SeenFrames& seen) {
  const auto room = decoder.prepare(bytes.size());
  std::copy(bytes.begin(), bytes.end(), room.begin());
  decoder.commit(bytes.size());
  EXPECT_TRUE(decoder.check_invariant());
  while (true) {
    const auto frame = decoder.next();
    EXPECT_TRUE(decoder.check_invariant());
    if (!frame) {
      seen.push_back(frame.error().code.message());
      return;
    }
    if (!*frame) return;
    seen.push_back((*frame)->type + std::string(as_text((*frame)->body)));
  }
}

Bytes sample() {
  Bytes bytes;
  append_parameter_status(bytes, "TimeZone", "UTC");
  append_empty_query_response(bytes);
  append_ready_for_query(bytes, 'I');
  return bytes;
}

TEST(FrameDecoder, GivesTheSameFramesWhereverTheBytesAreCut) {
  const Bytes bytes = sample();
  FrameDecoder whole(100);
  SeenFrames expected;
  feed(whole, bytes, expected);
  ASSERT_EQ(expected.size(), 3u);
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    FrameDecoder decoder(100);
    SeenFrames seen;
    feed(decoder, ByteView(bytes).first(cut), seen);
    feed(decoder, ByteView(bytes).subspan(cut), seen);
    EXPECT_EQ(seen, expected) << "cut=" << cut;
    EXPECT_TRUE(decoder.unread().empty());
  }
}

TEST(FrameDecoder, RejectsLengthBelowFourAndStaysDead) {
  for (char length = 0; length < 4; ++length) {
    FrameDecoder decoder(100);
    SeenFrames seen;
    feed(decoder, as_bytes(std::string{'Q', 0, 0, 0, length}), seen);
    feed(decoder, sample(), seen);
    ASSERT_EQ(seen.size(), 2u);
    EXPECT_EQ(seen[0], make_error_code(ProtocolErrc::LengthTooSmall).message());
    EXPECT_EQ(seen[1], make_error_code(ProtocolErrc::DecoderDead).message());
  }
}

TEST(FrameDecoder, RejectsABodyOverTheLimitFromItsHeaderAlone) {
  Bytes fits;
  append_message(fits, 'd', Bytes(10));
  Bytes too_long;
  append_message(too_long, 'd', Bytes(11));
  FrameDecoder decoder(10);
  SeenFrames seen;
  feed(decoder, fits, seen);
  EXPECT_EQ(seen.size(), 1u);
  feed(decoder, ByteView(too_long).first(5), seen);
  EXPECT_EQ(seen.back(), make_error_code(ProtocolErrc::MessageTooLong).message());
}

TEST(FrameDecoder, KeepsWhatFollowsForItsSuccessor) {
  Bytes bytes = sample();
  FrameDecoder decoder(100);
  const auto room = decoder.prepare(bytes.size());
  std::copy(bytes.begin(), bytes.end(), room.begin());
  decoder.commit(bytes.size());
  ASSERT_TRUE(decoder.next());
  EXPECT_EQ(decoder.unread().size(), 5u + 6u);
}

}  // namespace
}  // namespace sluice::protocol
