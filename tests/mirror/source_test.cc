#include "mirror/source.h"

#include <gtest/gtest.h>

namespace sluice::mirror {
namespace {

std::optional<Source> parse(std::string_view url) {
  std::string problem;
  auto source = Source::parse(url, problem);
  EXPECT_EQ(source.has_value(), problem.empty()) << url;
  return source;
}

TEST(MirrorSource, ReadsAddresses) {
  EXPECT_EQ(parse("http://router:9632"), (Source{"router", 9632, "/v1/profile"}));
  EXPECT_EQ(parse("http://router:9632/"), (Source{"router", 9632, "/v1/profile"}));
  EXPECT_EQ(parse("http://10.0.0.1"), (Source{"10.0.0.1", 80, "/v1/profile"}));
  EXPECT_EQ(parse("http://[fd00::1]:9632/behind/v1/profile?x=1"),
            (Source{"fd00::1", 9632, "/behind/v1/profile?x=1"}));
  EXPECT_EQ(parse("http://[::1]")->authority(), "[::1]:80");
  EXPECT_EQ(parse("http://router:1")->authority(), "router:1");
}

TEST(MirrorSource, RefusesWhatIsNone) {
  for (const std::string url :
       {"", "router:9632", "https://router", "http://", "http:///v1", "http://:80", "http://a:b",
        "http://a:0", "http://a:65536", "http://a:80x", "http://user@a", "http://a/#x", "http://[::1",
        "http://[::1]x", "http://a b", "http://a/\r\nX: y", "http://a:-1", "http://]"})
    EXPECT_FALSE(parse(url)) << url;
  EXPECT_FALSE(parse("http://a/" + std::string(3000, 'x')));
}

TEST(MirrorSource, IsSecureWhereThatIsAllowedAlone) {
  std::string problem;
  const auto secure = Source::parse("https://node/x", problem, Source::Https::Allowed);
  ASSERT_TRUE(secure);
  EXPECT_TRUE(secure->secure);
  EXPECT_EQ(secure->authority(), "node:443");
  EXPECT_FALSE(Source::parse("http://node", problem, Source::Https::Allowed)->secure);
  EXPECT_FALSE(Source::parse("ftp://node", problem, Source::Https::Allowed));
  EXPECT_EQ(problem, "the address must begin with http:// or https://");
}

}  // namespace
}  // namespace sluice::mirror
