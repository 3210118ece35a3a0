#include "http/chunk_decoder.h"

#include <gtest/gtest.h>

namespace sluice::http {
namespace {

struct Outcome {
  ChunkDecoder::State state = ChunkDecoder::State::More;
  std::string body;
  std::string trailers;
  std::size_t taken = 0;
};

// Feeds the bytes in steps of `step`, keeping what the decoder leaves.
Outcome decode(std::string_view bytes, std::size_t step) {
  ChunkDecoder decoder;
  Outcome outcome;
  std::string held;
  std::vector<std::string_view> pieces;
  while (outcome.state == ChunkDecoder::State::More && !bytes.empty()) {
    held += bytes.substr(0, step);
    bytes.remove_prefix(std::min(step, bytes.size()));
    std::size_t taken = 0;
    outcome.state = decoder.feed(held, taken, pieces);
    for (const std::string_view piece : pieces)
      outcome.body += piece;
    held.erase(0, taken);
    outcome.taken += taken;
  }
  outcome.trailers = decoder.trailers();
  return outcome;
}

// H08
TEST(ChunkDecoder, GivesTheSameBodyWhereverTheBytesAreCut) {
  const std::string bytes = "5\r\nhello\r\n1a;name=\"va;lue\"\r\nabcdefghijklmnopqrstuvwxyz\r\n0\r\n\r\n";
  for (std::size_t step = 1; step <= bytes.size(); ++step) {
    const Outcome outcome = decode(bytes + "GET /next", step);
    EXPECT_EQ(outcome.state, ChunkDecoder::State::Done) << step;
    EXPECT_EQ(outcome.body, "helloabcdefghijklmnopqrstuvwxyz") << step;
    EXPECT_EQ(outcome.taken, bytes.size()) << step;
  }
}

// H08
TEST(ChunkDecoder, RefusesBrokenFraming) {
  for (const std::string_view bytes :
       {"5\nhello\r\n0\r\n\r\n", "FFFFFFFFFFFFFFFF1\r\nx\r\n", "0x5\r\nhello\r\n0\r\n\r\n",
        " 5\r\nhello\r\n0\r\n\r\n", "5 \r\nhello\r\n0\r\n\r\n", "5\r\nhello\r\n\r\n\r\n",
        "5\r\nhelloX\r\n0\r\n\r\n", "-5\r\nhello\r\n", "+5\r\nhello\r\n", "5\r\nhello\n0\r\n\r\n", "g\r\n",
        "FFFFFFFFFFFFFFFF\r\nx\r\n", "5\r\nhello\r\n0\r\nBad trailer\r\n\r\n",
        "5\r\nhello\r\n0\r\n: x\r\n\r\n", "5\r\nhello\r\n0\r\nA: x\r\n folded\r\n\r\n"})
    for (const std::size_t step : {std::size_t{1}, bytes.size()})
      EXPECT_EQ(decode(bytes, step).state, ChunkDecoder::State::Broken) << bytes << " in steps of " << step;
}

// H08
TEST(ChunkDecoder, BoundsExtensionsAndTrailers) {
  EXPECT_EQ(decode("5;" + std::string(1 << 20, 'x'), 1000).state, ChunkDecoder::State::Broken);
  EXPECT_EQ(decode("0\r\nX: " + std::string(100 * 1024, 'x') + "\r\n\r\n", 1000).state,
            ChunkDecoder::State::Broken);
  EXPECT_EQ(decode("0\r\nX: " + std::string(100 * 1024, 'x') + "\r\n\r\n", 1 << 20).state,
            ChunkDecoder::State::Broken);
}

// H13
TEST(ChunkDecoder, PassesHarmlessTrailersAndDropsTheOthers) {
  const std::string bytes =
      "5\r\nhello\r\n0\r\nX-Sum: 1\r\nX-Sum: 2\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\nHost: "
      "evil\r\n"
      "Authorization: x\r\n\r\n";
  for (std::size_t step = 1; step <= bytes.size(); ++step) {
    const Outcome outcome = decode(bytes, step);
    EXPECT_EQ(outcome.state, ChunkDecoder::State::Done) << step;
    EXPECT_EQ(outcome.trailers, "X-Sum: 1\r\nX-Sum: 2\r\n") << step;
    EXPECT_EQ(outcome.taken, bytes.size()) << step;
  }
}

// Guards against an assertion of the parser's for a last chunk that comes in more than two parts.
TEST(ChunkDecoder, TakesAnEmptyBodyWhereverItIsCut) {
  for (const std::string bytes :
       {"0\r\n\r\n", "000\r\n\r\n", "0;x=y\r\nX-Sum: 1\r\n\r\n", "1\r\n0\r\n0\r\n\r\n"})
    for (std::size_t step = 1; step <= bytes.size(); ++step)
      EXPECT_EQ(decode(bytes, step).state, ChunkDecoder::State::Done) << bytes << " in steps of " << step;
}

TEST(ChunkDecoder, IsUsedAgainAfterReset) {
  ChunkDecoder decoder;
  std::vector<std::string_view> pieces;
  std::size_t taken = 0;
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(decoder.feed("1\r\na\r\n0\r\n\r\n", taken, pieces), ChunkDecoder::State::Done);
    EXPECT_EQ(pieces.size(), 1U);
    decoder.reset();
  }
}

}  // namespace
}  // namespace sluice::http
