#include "admin/http_access.h"

#include <string>

#include <gtest/gtest.h>

namespace sluice::admin::testing {
namespace {

constexpr std::string_view kToken = "0123456789abcdef";

http::PageRequest request(std::string authorization) {
  http::PageRequest asked;
  asked.host = "127.0.0.1:9632";
  asked.authorization = std::move(authorization);
  return asked;
}

TEST(Access, IsGrantedForTheToken) {
  EXPECT_EQ(judge(request("Bearer 0123456789abcdef"), kToken), Access::Granted);
  EXPECT_EQ(judge(request("bearer 0123456789abcdef"), kToken), Access::Granted);
}

TEST(Access, IsRefusedForAnythingElse) {
  for (const char* given : {"", "Bearer", "Bearer ", "Bearer 0123456789abcdeF", "Bearer 0123456789abcde",
                            "Bearer 0123456789abcdef0", "Basic 0123456789abcdef", "0123456789abcdef",
                            "Bearer 0123456789abcdef, Bearer 0123456789abcdef"})
    EXPECT_EQ(judge(request(given), kToken), Access::Refused) << given;
}

TEST(Access, IsOffWithoutAToken) {
  EXPECT_EQ(judge(request("Bearer "), ""), Access::Off);
  EXPECT_EQ(judge(request(""), ""), Access::Off);
}

TEST(Access, IsForeignForPagesFromElsewhereEvenWithTheToken) {
  const auto with = [](std::string origin, std::string site) {
    http::PageRequest asked = request("Bearer 0123456789abcdef");
    asked.origin = std::move(origin);
    asked.fetch_site = std::move(site);
    return judge(asked, kToken);
  };
  EXPECT_EQ(with("http://127.0.0.1:9632", "same-origin"), Access::Granted);
  EXPECT_EQ(with("https://127.0.0.1:9632", ""), Access::Granted);  // behind a proxy with TLS
  EXPECT_EQ(with("", "none"), Access::Granted);
  EXPECT_EQ(with("http://127.0.0.1:9633", ""), Access::Foreign);
  EXPECT_EQ(with("http://evil.example", "same-origin"), Access::Foreign);
  EXPECT_EQ(with("http://127.0.0.1:9632", "cross-site"), Access::Foreign);
  EXPECT_EQ(with("", "same-site"), Access::Foreign);
  EXPECT_EQ(with("null", ""), Access::Foreign);
  EXPECT_EQ(with("http://127.0.0.1:9632, http://127.0.0.1:9632", ""), Access::Foreign);
}

}  // namespace
}  // namespace sluice::admin::testing
