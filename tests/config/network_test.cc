#include "config/network.h"

#include <gtest/gtest.h>

namespace sluice::config {
namespace {

bool inside(std::string_view network, std::string_view address) {
  const auto n = parse_network(network);
  const auto a = parse_address(address);
  EXPECT_TRUE(n && a) << network << ' ' << address;
  return n && a && contains(*n, *a);
}

TEST(Network, ContainsByPrefixAtEveryLength) {
  EXPECT_TRUE(inside("10.1.0.0/16", "10.1.255.255"));
  EXPECT_FALSE(inside("10.1.0.0/16", "10.2.0.0"));
  EXPECT_TRUE(inside("10.1.128.0/17", "10.1.128.1"));
  EXPECT_FALSE(inside("10.1.128.0/17", "10.1.127.1"));
  EXPECT_TRUE(inside("10.1.2.3", "10.1.2.3"));
  EXPECT_FALSE(inside("10.1.2.3", "10.1.2.2"));
  EXPECT_TRUE(inside("fd00:1::/33", "fd00:1:7fff::1"));
  EXPECT_FALSE(inside("fd00:1::/33", "fd00:1:8000::1"));
}

TEST(Network, TakesMappedAddressesForIPv4) {
  EXPECT_TRUE(inside("10.0.0.0/8", "::ffff:10.0.0.1"));
  EXPECT_TRUE(inside("::ffff:10.0.0.0/104", "10.0.0.1"));
}

TEST(Network, KeepsAllOfIPv4AndAllOfIPv6Apart) {
  EXPECT_TRUE(inside("0.0.0.0/0", "1.2.3.4"));
  EXPECT_FALSE(inside("0.0.0.0/0", "2001:db8::1"));
  EXPECT_TRUE(inside("::/0", "2001:db8::1"));
  EXPECT_FALSE(inside("::/0", "1.2.3.4"));
}

TEST(Network, MatchesUnixSocketsByNameAlone) {
  const Network unix = *parse_network("unix");
  EXPECT_TRUE(contains(unix, unix_address()));
  EXPECT_FALSE(contains(unix, *parse_address("127.0.0.1")));
  EXPECT_FALSE(contains(*parse_network("::/0"), unix_address()));
}

TEST(Network, RefusesWhatIsNoNetwork) {
  for (const char* const text :
       {"", "/", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/8/8", "10.0.0.0/08x", "::/129",
        "10.0.0", "10.0.0.1/8", "010.0.0.0/8", "localhost", "fd00::1/64", "1:2:3", " 10.0.0.0/8"})
    EXPECT_FALSE(parse_network(text)) << text;
  EXPECT_FALSE(parse_network(std::string_view("10.0.0.1\0", 9)));
  EXPECT_FALSE(parse_network(std::string(1000, '1')));
}

TEST(Network, PrintsWhatItReads) {
  for (const char* const text : {"10.0.0.0/8", "10.0.0.1", "0.0.0.0/0", "::/0", "::1", "fd00::/8", "unix"})
    EXPECT_EQ(to_string(*parse_network(text)), text);
}

TEST(Network, KnowsLoopback) {
  for (const char* const text : {"127.0.0.0/8", "127.0.0.1", "::1", "unix"})
    EXPECT_TRUE(is_loopback(*parse_network(text))) << text;
  for (const char* const text : {"0.0.0.0/0", "126.0.0.0/7", "::/0", "::/127", "10.0.0.1"})
    EXPECT_FALSE(is_loopback(*parse_network(text))) << text;
  EXPECT_TRUE(is_loopback(*parse_address("::ffff:127.9.9.9")));
}

TEST(Address, DropsTheZone) {
  EXPECT_EQ(parse_address("fe80::1%eth0"), parse_address("fe80::1"));
}

}  // namespace
}  // namespace sluice::config
