#include "http/host_check.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::http {
namespace {

const std::vector<std::string> kNone;
const std::vector<std::string> kNames = {"router.example", "sluice"};

TEST(OwnHost, IsAnyNumericAddress) {
  for (const char* host :
       {"127.0.0.1", "127.0.0.1:9632", "10.1.2.3:80", "[::1]", "[::1]:9632", "[fe80::1]:9632", "192.0.2.7"})
    EXPECT_TRUE(is_own_host(host, ListensAt::Loopback, "127.0.0.1", kNone)) << host;
}

TEST(OwnHost, IsLocalhost) {
  for (const char* host : {"localhost", "localhost:9632", "LocalHost:1", "localhost."})
    EXPECT_TRUE(is_own_host(host, ListensAt::Loopback, "127.0.0.1", kNone)) << host;
}

TEST(OwnHost, IsNoOtherNameOnLoopback) {
  for (const char* address : {"127.0.0.1", "127.2", "::1", "0:0:0:0:0:0:0:1", "localhost.localdomain"})
    for (const char* host : {"evil.example", "evil.example:9632", "127.0.0.1.evil.example", "localhost.evil",
                             "notlocalhost", "127.1", "2130706433", "0x7f.0.0.1", "sluice"})
      EXPECT_FALSE(is_own_host(host, ListensAt::Loopback, address, kNone)) << host << " at " << address;
}

TEST(OwnHost, IsANameThatIsGiven) {
  for (const ListensAt at : {ListensAt::Loopback, ListensAt::Elsewhere}) {
    EXPECT_TRUE(is_own_host("router.example:9632", at, "*", kNames));
    EXPECT_TRUE(is_own_host("Router.Example.", at, "*", kNames));
    EXPECT_TRUE(is_own_host("sluice", at, "*", kNames));
    EXPECT_TRUE(is_own_host("10.0.0.1:9632", at, "*", kNames));
    EXPECT_FALSE(is_own_host("evil.example", at, "*", kNames));
    EXPECT_FALSE(is_own_host("router.example.evil", at, "*", kNames));
  }
  EXPECT_TRUE(is_own_host("evil.example", ListensAt::Loopback, "127.0.0.1", std::vector<std::string>{"*"}));
}

TEST(OwnHost, IsAnyNameAwayFromLoopbackWhereNoneIsGiven) {
  for (const char* address : {"0.0.0.0", "*", "10.1.2.3", "::", "router.example"})
    EXPECT_TRUE(is_own_host("anything.example:9632", ListensAt::Elsewhere, address, kNone)) << address;
}

TEST(OwnHost, IsTheNameListenedAt) {
  EXPECT_TRUE(is_own_host("router.internal:9632", ListensAt::Elsewhere, "router.internal", kNames));
}

TEST(OwnHost, IsNoMatterWithoutAHostOrAtAUnixSocket) {
  EXPECT_TRUE(is_own_host("", ListensAt::Loopback, "127.0.0.1", kNone));
  EXPECT_TRUE(is_own_host("anything", ListensAt::UnixSocket, "/run/sluice/admin", kNames));
  EXPECT_TRUE(is_own_host("anything", ListensAt::UnixSocket, "@sluice", kNames));
}

TEST(OwnHost, IsNothingMalformed) {
  for (const char* host : {"[::1", "[::1]x", "[::1]:x", "[evil.example]", "[127.0.0.1]", "localhost:9632x",
                           "localhost:123456", "localhost:1:2", "::1", ":", ":9632", "[]", "user@localhost",
                           "localhost evil.example", "localhost, evil.example"})
    EXPECT_FALSE(is_own_host(host, ListensAt::Loopback, "127.0.0.1", kNone)) << host;
}

}  // namespace
}  // namespace sluice::http
