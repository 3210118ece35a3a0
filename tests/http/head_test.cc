#include "http/head.h"

#include <string>

#include <gtest/gtest.h>

namespace sluice::http {
namespace {

using namespace std::string_literals;

int status_of(const std::string& bytes) {
  RequestHead head;
  return parse_request(bytes, {}, head).status;
}
int status_with(const std::string& fields) {
  return status_of("POST /x HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n");
}
RequestHead parsed(const std::string& bytes) {
  RequestHead head;
  const Refusal refusal = parse_request(bytes, {}, head);
  EXPECT_EQ(refusal.status, 0) << refusal.sentence << "\n" << bytes;
  return head;
}
int response_status(const std::string& fields) {
  static ResponseHead head;
  return parse_response("HTTP/1.1 200 OK\r\n" + fields + "\r\n", {}, head).status;
}

TEST(RequestHead, IsSplitIntoItsParts) {
  const std::string bytes =
      "GET /a/b?c=d HTTP/1.1\r\nHost: example.org:81\r\nAccept:  x \r\nConnection: close\r\n\r\n";
  const RequestHead head = parsed(bytes);
  EXPECT_EQ(head.method, Method::Get);
  EXPECT_EQ(head.target, "/a/b?c=d");
  EXPECT_EQ(head.path, "/a/b");
  EXPECT_EQ(head.host, "example.org:81");
  EXPECT_EQ(head.framing, Framing::None);
  EXPECT_FALSE(head.keep_alive);
  ASSERT_EQ(head.fields.size(), 3U);
  EXPECT_EQ(head.fields[1].name, "Accept");
  EXPECT_EQ(head.fields[1].value, "x");
}

TEST(RequestHead, IsFoundWhereverTheBytesAreCut) {
  const std::string bytes = "GET / HTTP/1.1\r\nHost: a\r\n\r\nGET /next";
  std::size_t searched = 0;
  for (std::size_t size = 0; size < 27; ++size)
    EXPECT_EQ(find_head_end(std::string_view(bytes).substr(0, size), searched).result, HeadSearch::NeedMore)
        << size;
  const HeadEnd end = find_head_end(bytes, searched);
  EXPECT_EQ(end.result, HeadSearch::Found);
  EXPECT_EQ(end.bytes, 27U);
}

TEST(RequestHead, WithABareLineFeedIsNotWaitedFor) {
  std::size_t searched = 0;
  EXPECT_EQ(find_head_end("GET / HTTP/1.1\nHost: a\n\n", searched).result, HeadSearch::BareLineFeed);
}

// H01
TEST(RequestHead, WithLengthAndTransferEncodingIsRefused) {
  EXPECT_EQ(status_with("Content-Length: 6\r\nTransfer-Encoding: chunked\r\n"), 400);
  EXPECT_EQ(status_with("Transfer-Encoding: chunked\r\nContent-Length: 6\r\n"), 400);
}

// H02
TEST(RequestHead, KnowsOneTransferEncoding) {
  for (const char* value : {"chunked", "Chunked", "CHUNKED"})
    EXPECT_EQ(parsed("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: "s + value + "\r\n\r\n").framing,
              Framing::Chunked);
  for (const char* value : {"xchunked", "identity", "gzip, chunked", "chunked, identity", "chunked, chunked",
                            "", "chunked,", "\tchunked", "chunked\t", "\"chunked\"", ",chunked"})
    EXPECT_TRUE(status_with("Transfer-Encoding: "s + value + "\r\n") >= 400) << value;
  EXPECT_EQ(status_with("Transfer-Encoding: \x0b"
                        "chunked\r\n"),
            400);
  EXPECT_EQ(status_with("Transfer-Encoding : chunked\r\n"), 400);
  EXPECT_TRUE(status_with("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n") >= 400);
  EXPECT_TRUE(status_with("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n") >= 400);
  EXPECT_EQ(status_of("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"), 400);
}

// H07
TEST(RequestHead, TakesPlainLengthsAlone) {
  for (const char* value : {"", " ", "+5", "-1", "0x5", "5,5", "5, 6", "5,", "18446744073709551617", "05",
                            "5 5", "\t5", "9223372036854775807"})
    EXPECT_EQ(status_with("Content-Length: "s + value + "\r\n"), 400) << value;
  EXPECT_EQ(status_with("Content-Length: 5\r\nContent-Length: 6\r\n"), 400);
  EXPECT_EQ(
      parsed("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\ncontent-length: 5\r\n\r\n").content_length,
      5U);
  const RequestHead empty = parsed("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(empty.framing, Framing::Length);
  EXPECT_EQ(empty.content_length, 0U);
}

// H14
TEST(RequestHead, RefusesMalformedFields) {
  for (const std::string& field :
       {"X: a\0b\r\n"s, "X: a\rb\r\n"s, "X: a\nb: c\r\n"s, "X: a\r\n folded\r\n"s, ": empty\r\n"s,
        "Na me: x\r\n"s, "X : a\r\n"s, "X\r\n"s, "Host: b\r\n"s, "X: \x7f\r\n"s})
    EXPECT_EQ(status_with(field), 400) << field;
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET / HTTP/1.0\r\n\r\n"), 0);
  for (const char* host : {"a b", "", "a/b", "a@b", "a?b", "a\\b", "a\tb", "a#b", "<a>"})
    EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: "s + host + "\r\n\r\n"), 400) << host;
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n"), 0);
  EXPECT_EQ(status_of("\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"), 400);
}

// H14
TEST(RequestHead, IsBoundedInSizeAndNumberOfFields) {
  EXPECT_EQ(status_with("X: " + std::string(100 * 1024, 'x') + "\r\n"), 431);
  std::string many;
  for (int i = 0; i < 200; ++i)
    many += "X-" + std::to_string(i) + ": y\r\n";
  EXPECT_EQ(status_with(many), 431);
  std::string words = "x";
  for (int i = 0; i < 100; ++i)
    words += ", x" + std::to_string(i);
  EXPECT_EQ(status_with("Connection: " + words + "\r\n"), 431);
}

// H14
TEST(RequestHead, OfAnAbsoluteTargetOverridesHost) {
  const std::string bytes = "GET http://other.org:80/p?q HTTP/1.1\r\nHost: a\r\n\r\n";
  const RequestHead head = parsed(bytes);
  EXPECT_EQ(head.host, "other.org:80");
  EXPECT_EQ(head.target, "/p?q");
  EXPECT_EQ(head.path, "/p");
  const std::string bare = "GET http://other.org HTTP/1.1\r\nHost: a\r\n\r\n";
  EXPECT_EQ(parsed(bare).target, "/");
  EXPECT_EQ(status_of("GET http://u@other.org/ HTTP/1.1\r\nHost: a\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET http://other.org?q HTTP/1.1\r\nHost: a\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET ftp://other.org/ HTTP/1.1\r\nHost: a\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET nothing HTTP/1.1\r\nHost: a\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n"), 400);
}

TEST(RequestHead, KnowsWhatIsNotServed) {
  EXPECT_EQ(status_of("CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n"), 501);
  EXPECT_EQ(status_of("PRI * HTTP/2.0\r\n\r\n"), 505);
  EXPECT_EQ(status_of("GET / HTTP/3.1\r\nHost: a\r\n\r\n"), 505);
  EXPECT_EQ(status_of("GET /\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET  / HTTP/1.1\r\nHost: a\r\n\r\n"), 400);
  EXPECT_EQ(status_with("Expect: tea\r\n"), 417);
  EXPECT_EQ(status_of("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n"), 0);
}

TEST(RequestHead, AsksForAnUpgradeWithBothFields) {
  const std::string both =
      "GET / HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n\r\n";
  EXPECT_EQ(parsed(both).upgrade, "websocket");
  const std::string one = "GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n\r\n";
  EXPECT_EQ(parsed(one).upgrade, "");
}

// H01
TEST(ResponseHead, WithLengthAndTransferEncodingLosesTheLength) {
  const std::string bytes =
      "HTTP/1.1 200 OK\r\nContent-Length: 6\r\nTransfer-Encoding: chunked\r\nX: y\r\n\r\n";
  ResponseHead head;
  EXPECT_EQ(parse_response(bytes, {}, head).status, 0);
  EXPECT_EQ(head.framing, Framing::Chunked);
  EXPECT_FALSE(head.keep_alive);
  ASSERT_EQ(head.fields.size(), 2U);
  EXPECT_EQ(head.fields[1].name, "X");
}

TEST(ResponseHead, IsJudgedLikeARequest) {
  EXPECT_EQ(response_status("Transfer-Encoding: gzip, chunked\r\n"), 502);
  EXPECT_EQ(response_status("Content-Length: 5,\r\n"), 502);  // H07
  EXPECT_EQ(response_status("Content-Length: 5\r\nContent-Length: 6\r\n"), 502);
  EXPECT_EQ(response_status("X : y\r\n"), 502);
  EXPECT_EQ(response_status("Content-Length: 5\r\n"), 0);
}

TEST(ResponseHead, SaysWhetherThereIsABody) {
  ResponseHead head;
  ASSERT_FALSE(parse_response("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", {}, head));
  EXPECT_EQ(body_framing(head, Method::Get), Framing::Length);
  EXPECT_EQ(body_framing(head, Method::Head), Framing::None);
  ASSERT_FALSE(parse_response("HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", {}, head));
  EXPECT_EQ(body_framing(head, Method::Get), Framing::None);
  ASSERT_FALSE(parse_response("HTTP/1.0 200 OK\r\n\r\n", {}, head));
  EXPECT_EQ(body_framing(head, Method::Get), Framing::UntilClose);
  EXPECT_FALSE(head.keep_alive);
  ASSERT_FALSE(parse_response("HTTP/1.1 200 OK\r\nConnection: x, Close\r\n\r\n", {}, head));
  EXPECT_FALSE(head.keep_alive);
  ASSERT_FALSE(parse_response("HTTP/1.1 200 OK\r\n\r\n", {}, head));
  EXPECT_TRUE(head.keep_alive);
}

}  // namespace
}  // namespace sluice::http
