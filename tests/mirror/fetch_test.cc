#include "mirror/fetch.h"

#include <gtest/gtest.h>

namespace sluice::mirror {
namespace {

using State = ResponseReader::State;

struct Outcome {
  State state = State::More;
  std::string body, problem;
  int status = 0;
};

Outcome read_in_two(const std::string& bytes, std::size_t cut, std::size_t body_bytes_max = 1000) {
  ResponseReader reader(body_bytes_max);
  State state = reader.feed(bytes.substr(0, cut));
  if (state == State::More) state = reader.feed(bytes.substr(cut));
  if (state == State::More) state = reader.end();
  return {state, reader.body(), reader.problem(), reader.status()};
}

const std::string kWithLength = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
const std::string kChunked =
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n";
const std::string kUntilClose = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello";
const std::string kInterim = "HTTP/1.1 103 Early Hints\r\n\r\n" + kWithLength;

TEST(MirrorResponse, IsTheSameWhereverItIsCut) {
  for (const std::string& bytes : {kWithLength, kChunked, kUntilClose, kInterim})
    for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
      const Outcome outcome = read_in_two(bytes, cut);
      EXPECT_EQ(outcome.state, State::Done) << outcome.problem << " cut=" << cut;
      EXPECT_EQ(outcome.body, "hello") << "cut=" << cut;
      EXPECT_EQ(outcome.status, 200);
    }
}

TEST(MirrorResponse, IsNotWholeWhenTheConnectionEndsBefore) {
  for (const std::string& bytes : {kWithLength, kChunked})
    for (std::size_t size = 0; size < bytes.size(); ++size)
      EXPECT_EQ(read_in_two(bytes.substr(0, size), 0).state, State::Failed) << size;
}

TEST(MirrorResponse, IsBounded) {
  for (const std::string& bytes : {kWithLength, kChunked, kUntilClose}) {
    EXPECT_EQ(read_in_two(bytes, 0, 5).state, State::Done);
    EXPECT_EQ(read_in_two(bytes, 0, 4).state, State::Failed);
  }
  EXPECT_EQ(read_in_two("HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n", 0).problem,
            "the answer is too long");
  ResponseReader reader(1000);
  State state = State::More;
  for (int i = 0; i < 100 && state == State::More; ++i)
    state = reader.feed(i == 0 ? "HTTP/1.1 200 OK\r\n" : "X: " + std::string(1000, 'x') + "\r\n");
  EXPECT_EQ(reader.problem(), "the answer's head is too long");
}

TEST(MirrorResponse, ThatIsNoHttpIsRefused) {
  for (const std::string bytes :
       {"hello\r\n\r\n", "HTTP/1.1 200 OK\n\n", "\r\n\r\n", "SSH-2.0-OpenSSH\r\n\r\n",
        "HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"})
    EXPECT_EQ(read_in_two(bytes, 0).state, State::Failed) << bytes;
}

TEST(MirrorRequest, SaysWhoAsksWhereThatIsWanted) {
  std::string problem;
  Source source = *Source::parse("http://10.0.0.1:8008/cluster", problem);
  EXPECT_EQ(
      request_for(source),
      "GET /cluster HTTP/1.1\r\nHost: 10.0.0.1:8008\r\nAccept: application/json\r\nUser-Agent: sluice\r\n"
      "Connection: close\r\n\r\n");
  source.authorization = "Basic b3BzOnNlc2FtZQ==";
  EXPECT_NE(request_for(source).find("\r\nAuthorization: Basic b3BzOnNlc2FtZQ==\r\n"), std::string::npos);
}

}  // namespace
}  // namespace sluice::mirror
