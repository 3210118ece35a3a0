#include "http/page.h"

#include <gtest/gtest.h>

namespace sluice::http {
namespace {

using State = PageRequestParser::State;

TEST(PageRequest, HasPathQueryAndWhatFollows) {
  PageRequestParser parser(1024);
  std::string input = "GET /v1/explain?route=%2Ffeed&x=1 HTTP/1.1\r\nHost: a\r\n\r\nGET";
  ASSERT_EQ(parser.feed(input), State::Done);
  EXPECT_EQ(parser.request().path, "/v1/explain");
  EXPECT_EQ(query_value(parser.request().query, "route"), "/feed");
  EXPECT_EQ(query_value(parser.request().query, "x"), "1");
  EXPECT_EQ(query_value(parser.request().query, "y"), "");
  EXPECT_TRUE(parser.request().keep_alive);
  EXPECT_EQ(input, "GET");
}

TEST(PageRequest, IsRefusedWithABodyOrAHeadTooLarge) {
  std::string with_body = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n";
  PageRequestParser parser(1024);
  EXPECT_EQ(parser.feed(with_body), State::Refused);
  EXPECT_EQ(parser.refusal_status(), 413);
  std::string large(2000, 'x');
  PageRequestParser second(1024);
  EXPECT_EQ(second.feed(large), State::Refused);
  EXPECT_EQ(second.refusal_status(), 431);
}

TEST(Page, OfHeadHasTheHeadersOfGet) {
  Page page;
  page.body = "hello\n";
  const std::string get = serialize(page, Body::Whole, Connection::Close, {});
  const std::string head = serialize(page, Body::HeadersAlone, Connection::Close, {});
  EXPECT_EQ(get, head + "hello\n");
  EXPECT_NE(head.find("\r\nContent-Length: 6\r\n"), std::string::npos);
  EXPECT_NE(head.find("Date: Thu, 01 Jan 1970 00:00:00 GMT"), std::string::npos);
}

TEST(PercentDecoding, LeavesWhatIsNoEscape) {
  EXPECT_EQ(percent_decoded("a%20b%2"), "a b%2");
  EXPECT_EQ(percent_decoded("%zz%41"), "%zzA");
}

}  // namespace
}  // namespace sluice::http
