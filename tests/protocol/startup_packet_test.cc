#include "protocol/startup_packet.h"

#include <gtest/gtest.h>

#include "tests/protocol/login_support.h"

namespace sluice::protocol {
namespace {

using namespace std::string_literals;
using testing::bytes_of;
using testing::messages_of;
using Answer = StartupRefusal::Answer;

Bytes body_of(std::uint32_t version, std::string_view rest) {
  Bytes body;
  ByteWriter out(body);
  out.u32(version);
  out.text(rest);
  return body;
}

struct Parsed {
  std::variant<StartupPacket, StartupRefusal> outcome;
  Bytes out;

  const StartupMessage* startup() const {
    const auto* packet = std::get_if<StartupPacket>(&outcome);
    return packet ? std::get_if<StartupMessage>(packet) : nullptr;
  }
  const StartupRefusal* refusal() const { return std::get_if<StartupRefusal>(&outcome); }
  std::string sqlstate() const { return refusal() ? refusal()->fields.sqlstate : "accepted"; }
};

Parsed parse(std::uint32_t version, std::string_view rest, NegotiationsOpen open = {}) {
  Bytes out;
  auto outcome = parse_startup_packet(body_of(version, rest), open, out);
  return {std::move(outcome), std::move(out)};
}

const std::string kUser = "user\0u\0\0"s;

TEST(StartupPacket, KeepsParametersInOrderAndSetsTheNamedOnesApart) {
  const Parsed parsed = parse(kProtocol30,
                              "user\0ann\0database\0shop\0b\0"
                              "2\0options\0-c a=b\0a\0"
                              "1\0b\0"
                              "3\0\0"s);
  ASSERT_NE(parsed.startup(), nullptr);
  EXPECT_EQ(parsed.startup()->user, "ann");
  EXPECT_EQ(parsed.startup()->database, "shop");
  EXPECT_EQ(parsed.startup()->options, "-c a=b");
  EXPECT_EQ(parsed.startup()->parameters, (std::vector<Parameter>{{"b", "2"}, {"a", "1"}, {"b", "3"}}));
  EXPECT_TRUE(parsed.out.empty());
}

// B01
TEST(StartupPacket, NegotiatesWithTheFullVersionNumberExactlyWhereTheMinorVersionIsNotOurs) {
  struct Case {
    std::uint32_t asked;
    std::uint16_t granted;
    std::string answer;
  };
  for (const Case& c : {Case{0x30000, 0, ""}, Case{0x30001, 0, "\0\3\0\0\0\0\0\0"s}, Case{0x30002, 2, ""},
                        Case{0x30003, 2, "\0\3\0\2\0\0\0\0"s}, Case{0x3270F, 2, "\0\3\0\2\0\0\0\0"s}}) {
    const Parsed parsed = parse(c.asked, kUser);
    ASSERT_NE(parsed.startup(), nullptr) << c.asked;
    EXPECT_EQ(parsed.startup()->minor_granted, c.granted) << c.asked;
    const auto messages = messages_of(parsed.out);
    ASSERT_EQ(messages.size(), c.answer.empty() ? 0u : 1u) << c.asked;
    if (c.answer.empty()) continue;
    EXPECT_EQ(messages[0].type, 'v') << c.asked;
    EXPECT_EQ(messages[0].body, c.answer) << c.asked;
  }
}

// B02
TEST(StartupPacket, NamesEveryProtocolOptionVerbatimAlsoForThreeZero) {
  const Parsed parsed = parse(kProtocol30, "_pq_.b\0\0user\0u\0_pq_.A\0x\0\0"s);
  ASSERT_NE(parsed.startup(), nullptr);
  EXPECT_TRUE(parsed.startup()->parameters.empty());
  const auto messages = messages_of(parsed.out);
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(messages[0].body, "\0\3\0\0\0\0\0\2_pq_.b\0_pq_.A\0"s);
}

TEST(StartupPacket, RefusesOtherMajorVersionsInTheirOwnFormat) {
  const Parsed newer = parse(0x00040000, kUser);
  ASSERT_NE(newer.refusal(), nullptr);
  EXPECT_EQ(newer.refusal()->answer, Answer::ErrorResponse);
  EXPECT_EQ(newer.sqlstate(), "0A000");
  EXPECT_EQ(newer.refusal()->fields.message, "unsupported frontend protocol 4.0: server supports 3.0 to 3.2");
  const Parsed older = parse(0x00020000, kUser);
  ASSERT_NE(older.refusal(), nullptr);
  Bytes out;
  append_refusal(out, *older.refusal());
  EXPECT_EQ(as_text(out), "EFATAL:  unsupported frontend protocol 2.0: server supports 3.0 to 3.2\n\0"s);
}

// B07
TEST(StartupPacket, DefaultsTheDatabaseToTheUserAndJudgesTheLayoutAsPostgreSqlDoes) {
  EXPECT_EQ(parse(kProtocol30, kUser).startup()->database, "u");
  EXPECT_EQ(parse(kProtocol30, "user\0u\0database\0\0\0"s).startup()->database, "u");
  EXPECT_EQ(parse(kProtocol30, "database\0d\0\0"s).sqlstate(), "28000");
  EXPECT_EQ(parse(kProtocol30, "user\0\0\0"s).sqlstate(), "28000");
  EXPECT_EQ(parse(kProtocol30, "user\0u\0"s).sqlstate(), "08P01");
  EXPECT_EQ(parse(kProtocol30, "user\0u"s).sqlstate(), "08P01");
  EXPECT_EQ(parse(kProtocol30, "user\0u\0\0ten bytes.."s).sqlstate(), "08P01");
  EXPECT_EQ(parse(kProtocol30, "user\0u\0name\0"s).sqlstate(), "08P01");
  EXPECT_EQ(parse(kProtocol30, ""s).sqlstate(), "08P01");
}

TEST(StartupPacket, CutsNamesAsPostgreSqlDoes) {
  const std::string longest(63, 'a');
  const Parsed parsed = parse(kProtocol30, "user\0"s + longest + "b\0\0"s);
  EXPECT_EQ(parsed.startup()->user, longest);
  EXPECT_EQ(parsed.startup()->database, longest);
}

TEST(StartupPacket, ReadsReplicationAsABooleanOrDatabase) {
  const auto replication = [](std::string_view value) {
    return parse(kProtocol30, "user\0u\0replication\0"s + std::string(value) + "\0\0"s);
  };
  for (const char* on : {"1", "t", "TRUE", "on", "y", "yes"})
    EXPECT_EQ(replication(on).startup()->replication, Replication::Physical) << on;
  for (const char* off : {"0", "f", "off", "of", "N", "false"})
    EXPECT_EQ(replication(off).startup()->replication, Replication::Off) << off;
  EXPECT_EQ(replication("database").startup()->replication, Replication::Database);
  EXPECT_TRUE(replication("true").startup()->parameters.empty());
  EXPECT_EQ(replication("2").sqlstate(), "22023");
  EXPECT_EQ(replication("truest").sqlstate(), "22023");
}

// B08
TEST(StartupPacket, ClosesSilentlyOnNonsenseLengthsBeforeAllocating) {
  for (const std::uint32_t length : {0u, 3u, 7u, 10005u, 0x7FFFFFFFu, 0xFFFFFFFFu}) {
    const auto size = startup_body_bytes(length, kStartupBytesMax);
    const auto* refused = std::get_if<StartupRefusal>(&size);
    ASSERT_NE(refused, nullptr) << length;
    EXPECT_EQ(refused->answer, Answer::Silent) << length;
  }
  EXPECT_TRUE((std::holds_alternative<std::size_t>(startup_body_bytes(8, kStartupBytesMax))));
  EXPECT_TRUE((std::holds_alternative<std::size_t>(startup_body_bytes(10004, kStartupBytesMax))));
}

TEST(StartupPacket, TakesARepeatedNegotiationForAProtocolVersion) {
  EXPECT_EQ(parse(kSslRequestCode, "").sqlstate(), "accepted");
  EXPECT_EQ(parse(kSslRequestCode, "", {false, true}).sqlstate(), "0A000");
  EXPECT_EQ(parse(kGssEncRequestCode, "", {true, false}).sqlstate(), "0A000");
}

// B26
TEST(StartupPacket, ReadsCancelKeysOfFourToTwoHundredFiftySixBytes) {
  for (const std::size_t size : {0u, 3u, 4u, 32u, 256u, 257u}) {
    const Parsed parsed = parse(kCancelRequestCode, "\xFF\xFF\xFF\xFE" + std::string(size, 'k'));
    if (size < 4 || size > 256) {
      ASSERT_NE(parsed.refusal(), nullptr) << size;
      EXPECT_EQ(parsed.refusal()->answer, Answer::Silent) << size;
      continue;
    }
    const auto* packet = std::get_if<StartupPacket>(&parsed.outcome);
    const auto* cancel = packet ? std::get_if<CancelRequest>(packet) : nullptr;
    ASSERT_NE(cancel, nullptr) << size;
    EXPECT_EQ(cancel->process_id, -2);
    EXPECT_EQ(as_text(cancel->secret), std::string(size, 'k'));
  }
}

TEST(StartupPacket, SurvivesEveryTruncation) {
  const std::string rest = "user\0u\0database\0d\0_pq_.x\0y\0replication\0on\0\0"s;
  for (std::size_t size = 0; size < rest.size(); ++size) {
    Bytes out;
    const auto outcome = parse_startup_packet(ByteView(body_of(kProtocol30, rest)).first(4 + size), {}, out);
    EXPECT_TRUE(std::holds_alternative<StartupRefusal>(outcome) || size == 0) << size;
  }
  for (std::size_t size = 0; size < 4; ++size) {
    Bytes out;
    EXPECT_TRUE(std::holds_alternative<StartupRefusal>(parse_startup_packet(Bytes(size), {}, out)));
  }
}

}  // namespace
}  // namespace sluice::protocol
