#include "placer/body_relay.h"

#include <array>

#include <asio/io_context.hpp>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sluice/rng.h"

namespace sluice::placer {
namespace {

// A channel whose other end the test writes to.
class BodyRelay : public ::testing::Test, public ChannelUser {
 protected:
  void SetUp() override {
    std::array<int, 2> ends{};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
    peer_ = ends[1];
    net::Socket socket(io_);
    socket.assign(asio::generic::stream_protocol(AF_UNIX, 0), ends[0]);
    channel_ = std::make_unique<Channel>(net::Stream(std::move(socket)), buffers_, this);
  }
  void TearDown() override {
    channel_->close();
    io_.restart();
    io_.run();
    channel_.reset();
    ::close(peer_);
  }
  void on_read(Channel&, std::error_code ec) override { ended_ = static_cast<bool>(ec); }
  void on_writable(Channel&, std::error_code) override {}
  void on_quiet(Channel&) override {}

  // Lets the channel read exactly these bytes behind what it has.
  void feed(std::string_view bytes) {
    if (bytes.empty()) return;
    ASSERT_EQ(::write(peer_, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    const std::size_t wanted = channel_->unread().size() + bytes.size();
    while (channel_->unread().size() < wanted && !ended_) {
      channel_->read();
      io_.restart();
      io_.run_one();
    }
  }

  asio::io_context io_{1};
  net::BufferPool buffers_{64 * 1024};
  std::unique_ptr<Channel> channel_;
  int peer_ = -1;
  bool ended_ = false;
};

struct Sample {
  std::string body, encoded;
};
Sample random_chunks(Rng& rng) {
  Sample sample;
  for (std::uint64_t chunk = rng.below(6); chunk > 0; --chunk) {
    const std::string part(1 + rng.below(rng.below(2) == 0 ? 20 : 9000),
                           static_cast<char>('a' + rng.below(26)));
    std::array<char, 32> size{};
    std::snprintf(size.data(), size.size(), "%zx", part.size());
    sample.body += part;
    sample.encoded += std::string(size.data()) + (rng.below(3) == 0 ? ";x=y" : "") + "\r\n" + part + "\r\n";
  }
  sample.encoded += rng.below(2) == 0 ? "0\r\n\r\n" : "0\r\nX-Sum: 1\r\nHost: evil\r\n\r\n";
  return sample;
}

// H08
TEST_F(BodyRelay, EncodesChunksAnewWhereverTheyAreCut) {
  constexpr std::string_view kBehind = "GET /next";
  Rng rng(7);
  for (int round = 0; round < 300; ++round) {
    const Sample sample = random_chunks(rng);
    std::string rest = sample.encoded + std::string(kBehind);
    http::ChunkDecoder decoder, checker;
    std::vector<std::string_view> pieces;
    std::uint64_t bytes = 0;
    std::string out;
    auto state = http::ChunkDecoder::State::More;
    while (state == http::ChunkDecoder::State::More) {
      ASSERT_FALSE(rest.empty());
      const std::string piece = rest.substr(0, 1 + rng.below(rng.below(2) == 0 ? 4 : 12'000));
      rest.erase(0, piece.size());
      feed(piece);
      Outgoing outgoing;
      state = relay_chunked(*channel_, decoder, Recode::Chunked, pieces, bytes, outgoing);
      out.append(outgoing.head).append(outgoing.data).append(outgoing.tail);
    }
    ASSERT_EQ(state, http::ChunkDecoder::State::Done) << round;
    feed(rest);
    ASSERT_EQ(channel_->unread_text(), kBehind) << round;
    channel_->take(kBehind.size());
    std::size_t taken = 0;
    ASSERT_EQ(checker.feed(out, taken, pieces), http::ChunkDecoder::State::Done) << round << ": " << out;
    std::string decoded;
    for (const std::string_view piece : pieces)
      decoded += piece;
    EXPECT_EQ(decoded, sample.body);
    EXPECT_EQ(bytes, sample.body.size());
    EXPECT_EQ(taken, out.size());
    EXPECT_EQ(out.find("evil"), std::string::npos);
    EXPECT_EQ(out.find("x=y"), std::string::npos);
  }
}

TEST_F(BodyRelay, PutsAHeadInFrontOfTheDataWhereItLies) {
  feed("hello and more");
  Outgoing out;
  out.head = "HEAD\r\n";
  std::uint64_t left = 5;
  relay_plain(*channel_, left, out);
  out.join_head(*channel_);
  EXPECT_EQ(left, 0U);
  EXPECT_EQ(out.data, "HEAD\r\nhello");
  EXPECT_TRUE(out.head.empty());
  EXPECT_EQ(channel_->unread_text(), " and more");
}

TEST_F(BodyRelay, MakesOneChunkOfWhatCame) {
  feed("hello");
  Outgoing out;
  relay_as_chunk(*channel_, out);
  EXPECT_EQ(out.data, "5\r\nhello\r\n");
  EXPECT_TRUE(channel_->empty());
}

}  // namespace
}  // namespace sluice::placer
