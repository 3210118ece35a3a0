#include "protocol/proxy_header.h"

#include <algorithm>
#include <array>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <arpa/inet.h>
#include <gtest/gtest.h>

#include "protocol/protocol_error.h"

namespace sluice::protocol {
namespace {

using namespace std::string_literals;

const std::string kV2 = "\r\n\r\n\0\r\nQUIT\n"s;

struct Read {
  std::optional<ProxyHeader> header;  // none: refused, or not complete
  std::error_code error;
  std::size_t taken = 0;
};

// Everything at once, or in pieces of the given sizes and the rest.
Read read(std::string_view bytes, const std::vector<std::size_t>& cuts = {}) {
  ProxyHeaderDecoder decoder;
  Read result;
  std::size_t begin = 0, piece = 0;
  while (begin < bytes.size() && !decoder.done()) {
    const std::size_t size = piece < cuts.size() ? cuts[piece++] : bytes.size();
    const std::string_view part = bytes.substr(begin, std::max<std::size_t>(size, 1));
    const auto taken = decoder.feed(as_bytes(part));
    if (!taken) {
      result.error = taken.error().code;
      return result;
    }
    result.taken += *taken;
    begin += part.size();
    if (*taken < part.size()) break;
  }
  if (decoder.done()) result.header = decoder.header();
  return result;
}

ProxyHeader proxied(ProxyEndPoint source, ProxyEndPoint destination) {
  return {ProxyHeader::Command::Proxied, std::move(source), std::move(destination)};
}

std::string v2(unsigned char command, unsigned char family, std::string_view body) {
  std::string text = kV2;
  text += static_cast<char>(command);
  text += static_cast<char>(family);
  text += static_cast<char>(body.size() >> 8);
  text += static_cast<char>(body.size() & 0xFF);
  return text.append(body);
}

const std::string kInet4 = "\x0a\x01\x02\x03\xc0\xa8\x00\x01\x30\x39\x19\x20"s;
const ProxyHeader kInet4Header = proxied({"10.1.2.3", 12345}, {"192.168.0.1", 6432});

TEST(ProxyHeader, ReadsVersionOneOfBothFamilies) {
  EXPECT_EQ(read("PROXY TCP4 10.1.2.3 192.168.0.1 12345 6432\r\n").header, kInet4Header);
  EXPECT_EQ(read("PROXY TCP6 2001:DB8:0::1 ::1 1 65535\r\n").header,
            proxied({"2001:db8::1", 1}, {"::1", 65535}));
  EXPECT_EQ(read("PROXY TCP6 ::ffff:10.1.2.3 ::ffff:192.168.0.1 12345 6432\r\n").header, kInet4Header);
}

TEST(ProxyHeader, UnknownInVersionOneIsTheProxysOwnConnectionWhateverFollows) {
  for (const std::string rest : {"", " ", " a b c", " ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 1 2 3"})
    EXPECT_EQ(read("PROXY UNKNOWN" + rest + "\r\n").header, ProxyHeader()) << rest;
}

TEST(ProxyHeader, VersionOneIsTakenToTheLetter) {
  for (const std::string line : {"PROXY TCP4 10.1.2.3 192.168.0.1 12345 6432\n",
                                 "PROXY TCP4 10.1.2.3 192.168.0.1 12345\r\n",
                                 "PROXY TCP4 10.1.2.3 192.168.0.1 12345 6432 1\r\n",
                                 "PROXY  TCP4 10.1.2.3 192.168.0.1 12345 6432\r\n",
                                 "PROXY TCP4  10.1.2.3 192.168.0.1 12345 6432\r\n",
                                 "PROXY TCP4 10.1.2.3 192.168.0.1 12345 6432 \r\n",
                                 "PROXY TCP4 010.1.2.3 192.168.0.1 12345 6432\r\n",
                                 "PROXY TCP4 10.1.2 192.168.0.1 12345 6432\r\n",
                                 "PROXY TCP4 ::1 ::1 12345 6432\r\n",
                                 "PROXY TCP6 10.1.2.3 192.168.0.1 12345 6432\r\n",
                                 "PROXY TCP4 10.1.2.3 192.168.0.1 012 6432\r\n",
                                 "PROXY TCP4 10.1.2.3 192.168.0.1 65536 6432\r\n",
                                 "PROXY TCP4 10.1.2.3 192.168.0.1 -1 6432\r\n",
                                 "PROXY TCP4 10.1.2.3 192.168.0.1 +1 6432\r\n",
                                 "PROXY TCP4 10.1.2.3 192.168.0.1 1x 6432\r\n",
                                 "PROXY TCP4 10.1.2.3 192.168.0.1  6432\r\n",
                                 "PROXY UDP4 10.1.2.3 192.168.0.1 12345 6432\r\n",
                                 "PROXY UNKNOWNS\r\n",
                                 "PROXY \r\n",
                                 "PROXY\r\n",
                                 "proxy TCP4 10.1.2.3 192.168.0.1 12345 6432\r\n",
                                 "GET / HTTP/1.1\r\n",
                                 "PROXY TCP6 fe80::1%lo ::1 1 1\r\n"})
    EXPECT_EQ(read(line).error, ProtocolErrc::MalformedMessage) << line;
}

TEST(ProxyHeader, AZeroByteInAnAddressEndsNothing) {
  EXPECT_EQ(read("PROXY TCP4 10.1.2.3\0x 192.168.0.1 12345 6432\r\n"s).error, ProtocolErrc::MalformedMessage);
}

TEST(ProxyHeader, ALineMayHaveOneHundredAndSevenBytes) {
  const std::string longest = "PROXY UNKNOWN " + std::string(kProxyV1BytesMax - 16, 'x') + "\r\n";
  ASSERT_EQ(longest.size(), kProxyV1BytesMax);
  EXPECT_TRUE(read(longest).header);
  EXPECT_EQ(read("PROXY UNKNOWN " + std::string(kProxyV1BytesMax - 15, 'x') + "\r\n").error,
            ProtocolErrc::MessageTooLong);
}

TEST(ProxyHeader, ReadsVersionTwoOfEachFamily) {
  EXPECT_EQ(read(v2(0x21, 0x11, kInet4)).header, kInet4Header);
  const std::string v6 = "\x20\x01\x0d\xb8"s + std::string(11, '\0') + "\x01" + std::string(15, '\0') +
                         "\x01" + "\x00\x01\xff\xff"s;
  EXPECT_EQ(read(v2(0x21, 0x21, v6)).header, proxied({"2001:db8::1", 1}, {"::1", 65535}));
  std::string names = "/run/a.sock"s;
  names.resize(108);
  names += "\0hidden"s;
  names.resize(216);
  EXPECT_EQ(read(v2(0x21, 0x31, names)).header, proxied({"/run/a.sock", 0, true}, {"@hidden", 0, true}));
  EXPECT_EQ(read(v2(0x21, 0x31, std::string(216, '\0'))).header, proxied({"", 0, true}, {"", 0, true}));
}

TEST(ProxyHeader, LocalAndUnspecifiedAreTheProxysOwnConnection) {
  EXPECT_EQ(read(v2(0x20, 0x00, "")).header, ProxyHeader());
  EXPECT_EQ(read(v2(0x20, 0x11, kInet4)).header, ProxyHeader()) << "its addresses are passed over";
  EXPECT_EQ(read(v2(0x20, 0xFF, "x")).header, ProxyHeader());
  EXPECT_EQ(read(v2(0x21, 0x00, "what you like")).header, ProxyHeader());
}

TEST(ProxyHeader, TlvsArePassedOver) {
  const std::string tlvs = "\x03\x00\x04\x01\x02\x03\x04"s + "\x20" + std::string(1000, '\xff');
  EXPECT_EQ(read(v2(0x21, 0x11, kInet4 + tlvs)).header, kInet4Header);
}

TEST(ProxyHeader, RefusesOtherVersionsCommandsFamiliesAndShortAddresses) {
  for (const std::string& bytes :
       {v2(0x11, 0x11, kInet4), v2(0x31, 0x11, kInet4), v2(0x22, 0x11, kInet4), v2(0x21, 0x12, kInet4),
        v2(0x21, 0x10, kInet4), v2(0x21, 0x41, kInet4), v2(0x21, 0x22, std::string(36, 'x')),
        v2(0x21, 0x32, std::string(216, 'x')), v2(0x21, 0x11, kInet4.substr(1)), v2(0x21, 0x11, ""),
        v2(0x21, 0x21, std::string(35, 'x')), v2(0x21, 0x31, std::string(215, 'x')), "\r\n\r\n\0\r\nQUITE"s,
        "\x16\x03\x01"s, "\0\0\0\x08\x04\xd2\x16\x2f"s})
    EXPECT_EQ(read(bytes).error, ProtocolErrc::MalformedMessage);
}

TEST(ProxyHeader, ABodyHasALimitThatIsLookedAtBeforeItComes) {
  EXPECT_TRUE(read(v2(0x20, 0x00, std::string(kProxyV2BodyBytesMax, 'x'))).header);
  const std::string too_long = v2(0x20, 0x00, std::string(kProxyV2BodyBytesMax + 1, 'x'));
  EXPECT_EQ(read(too_long.substr(0, kProxyV2HeaderBytes)).error, ProtocolErrc::MessageTooLong);
}

TEST(ProxyHeader, IsDeadAfterAnError) {
  ProxyHeaderDecoder decoder;
  EXPECT_FALSE(decoder.feed(as_bytes("x")));
  const auto again = decoder.feed(as_bytes("PROXY UNKNOWN\r\n"));
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ProtocolErrc::DecoderDead);
}

std::vector<std::string> samples() {
  return {"PROXY TCP4 10.1.2.3 192.168.0.1 12345 6432\r\n",
          "PROXY UNKNOWN\r\n",
          v2(0x21, 0x11, kInet4),
          v2(0x21, 0x11, kInet4 + "\x04\x00\x01\x00"s),
          v2(0x20, 0x00, ""),
          v2(0x21, 0x31, std::string(216, 'u'))};
}

TEST(ProxyHeader, TakesTheSameWhereverTheBytesAreCutAndNothingBehindIt) {
  for (const std::string& sample : samples()) {
    const Read whole = read(sample + "behind");
    ASSERT_TRUE(whole.header);
    EXPECT_EQ(whole.taken, sample.size());
    for (std::size_t cut = 1; cut <= sample.size(); ++cut) {
      const Read cut_once = read(sample + "behind", {cut});
      EXPECT_EQ(cut_once.header, whole.header) << cut;
      EXPECT_EQ(cut_once.taken, sample.size()) << cut;
    }
    EXPECT_EQ(read(sample + "behind", std::vector<std::size_t>(sample.size(), 1)).header, whole.header);
  }
}

TEST(ProxyHeader, EveryTruncationWaitsForMore) {
  for (const std::string& sample : samples())
    for (std::size_t size = 1; size < sample.size(); ++size) {
      const Read cut = read(sample.substr(0, size));
      EXPECT_FALSE(cut.header) << size;
      EXPECT_FALSE(cut.error) << size;
      EXPECT_EQ(cut.taken, size);
    }
}

// What is written is read back, in either version, for whatever addresses.
TEST(ProxyHeader, RoundTripsRandomAddresses) {
  std::mt19937 random(7);
  const auto address = [&](bool v6) {
    std::array<unsigned char, 16> raw{};
    std::generate(raw.begin(), raw.end(), [&] { return static_cast<unsigned char>(random() % 256); });
    std::array<char, INET6_ADDRSTRLEN> text{};
    return std::string(inet_ntop(v6 ? AF_INET6 : AF_INET, raw.data(), text.data(), text.size()));
  };
  for (int round = 0; round < 500; ++round) {
    const bool v6 = random() % 2 == 0, other_v6 = random() % 4 == 0 ? !v6 : v6;
    const ProxyEndPoint source{address(v6), static_cast<std::uint16_t>(random())};
    const ProxyEndPoint destination{address(other_v6), static_cast<std::uint16_t>(random())};
    Bytes one, two;
    append_proxy_v1(one, source, destination);
    append_proxy_v2(two, source, destination);
    for (const Bytes& bytes : {one, two}) {
      const Read back = read(as_text(bytes));
      EXPECT_EQ(back.header, proxied(source, destination)) << source.address << ' ' << destination.address;
      EXPECT_EQ(back.taken, bytes.size());
    }
    EXPECT_LE(one.size(), kProxyV1BytesMax);
  }
}

TEST(ProxyHeader, RoundTripsUnixSocketsAsFarAsTheVersionsGo) {
  const ProxyEndPoint file{"/run/a", 0, true}, hidden{"@b", 0, true}, tcp{"10.1.2.3", 5};
  Bytes both, mixed, local, one;
  append_proxy_v2(both, file, hidden);
  EXPECT_EQ(read(as_text(both)).header, proxied(file, hidden));
  append_proxy_v2(mixed, file, tcp);
  EXPECT_EQ(read(as_text(mixed)).header, ProxyHeader());
  append_proxy_v1(one, file, tcp);
  EXPECT_EQ(as_text(one), "PROXY UNKNOWN\r\n");
  append_proxy_v2_local(local);
  EXPECT_EQ(read(as_text(local)).header, ProxyHeader());
  EXPECT_EQ(local.size(), kProxyV2HeaderBytes);
}

// Any bytes: the decoder takes no more than there are, and no more than the largest header.
TEST(ProxyHeader, StandsRandomBytesBehindEachSignature) {
  std::mt19937 random(11);
  for (int round = 0; round < 5000; ++round) {
    std::string bytes = random() % 2 == 0 ? "PROXY TCP4 " : kV2 + (random() % 2 == 0 ? "\x21" : "\x20");
    for (std::size_t more = random() % 300; more > 0; --more)
      bytes += static_cast<char>(random() % 256);
    const Read result = read(bytes, {random() % 40, random() % 40});
    EXPECT_LE(result.taken, std::min(bytes.size(), kProxyV2HeaderBytes + kProxyV2BodyBytesMax));
    EXPECT_FALSE(result.header && result.error);
  }
}

}  // namespace
}  // namespace sluice::protocol
