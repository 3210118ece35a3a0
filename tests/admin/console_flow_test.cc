#include <memory>

#include <gtest/gtest.h>

#include "tests/admin/console_client.h"

// Extended query protocol, answers that come later, bounded output.
namespace sluice::admin::testing {
namespace {

TEST(ConsoleFlow, AnswersTheExtendedProtocol) {
  ConsoleClient client;
  const auto answers = client.say(parse("s", "SHOW POOLS") + describe('S', "s") + bind_portal("", "s") +
                                  describe('P', "") + execute("") + message('C', 'S' + zero("s")) + sync());
  EXPECT_EQ(types(answers), "1tT2TDC3Z");
  EXPECT_EQ(client.say(bind_portal("", "s") + sync())[0].field('C'), "26000");
}

TEST(ConsoleFlow, AnswersEmptyAndRowlessStatements) {
  ConsoleClient client;
  EXPECT_EQ(types(client.say(parse("", "") + describe('S', "") + bind_portal("", "") + execute("") + sync())),
            "1tn2IZ");
  EXPECT_EQ(
      types(client.say(parse("", "RELOAD") + describe('S', "") + bind_portal("", "") + execute("") + sync())),
      "1tn2CZ");
}

TEST(ConsoleFlow, SendsNumbersInBinaryWhereAsked) {
  ConsoleClient client;
  const auto answers =
      client.say(parse("", "SELECT 258, 'x'") + bind_portal("", "", {1}) + execute("") + sync());
  ASSERT_EQ(types(answers), "12DCZ");
  EXPECT_EQ(answers[2].values()[0], std::string("\0\0\0\0\0\0\1\2", 8));
  EXPECT_EQ(answers[2].values()[1], "x");
}

TEST(ConsoleFlow, RefusesWhatBindCannotMean) {
  ConsoleClient client;
  client.say(parse("s", "SHOW LISTS") + sync());
  EXPECT_EQ(client.say(bind_portal("", "s", {0, 0, 0}) + sync())[0].field('C'), "08P01");
  EXPECT_EQ(client.say(bind_portal("", "s", {2}) + sync())[0].field('C'), "22023");
  const std::string with_parameter = zero("") + zero("s") + int16(0) + int16(1) + int32(1) + "x" + int16(0);
  EXPECT_EQ(client.say(message('B', with_parameter) + sync())[0].field('C'), "08P01");
  EXPECT_EQ(client.say(parse("s", "SHOW LISTS") + sync())[0].field('C'), "42P05");
  EXPECT_EQ(client.say(parse("", "SHOW LISTS; SHOW POOLS") + sync())[0].field('C'), "42601");
  EXPECT_EQ(client.say(execute("nosuch") + sync())[0].field('C'), "34000");
}

TEST(ConsoleFlow, SkipsEverythingToSyncAfterAnError) {
  ConsoleClient client;
  const auto answers = client.say(parse("", "SHOW nosuch") + bind_portal("", "") + execute("") +
                                  query("KILL") + sync() + query("SHOW VERSION"));
  EXPECT_EQ(types(answers), "EZTDCZ");
  EXPECT_TRUE(client.router.commands.empty());
}

TEST(ConsoleFlow, SuspendsAPortalAtItsRowLimit) {
  ConsoleClient client;
  const Bytes begin = query("BEGIN");
  client.say(begin);
  auto answers = client.say(parse("", "SHOW LISTS") + bind_portal("p", "") + execute("p", 10) + sync());
  EXPECT_EQ(types(answers), "12DDDDDDDDDDsZ");
  answers = client.say(execute("p", 10) + sync());
  EXPECT_EQ(types(answers), "DDDDDDDDCZ");
  EXPECT_EQ(types(client.say(execute("p", 10) + sync())), "CZ");
}

TEST(ConsoleFlow, RunsACommandOncePerPortal) {
  ConsoleClient client;
  const auto answers =
      client.say(parse("", "RELOAD") + bind_portal("", "") + execute("") + execute("") + sync());
  EXPECT_EQ(types(answers), "12CEZ");
  EXPECT_EQ(client.router.commands.size(), 1U);
}

TEST(ConsoleFlow, BoundsPreparedStatementsAndPortals) {
  ConsoleClient client;
  Bytes many;
  for (int i = 0; i < 1001; ++i)
    many = std::move(many) + parse("s" + std::to_string(i), "SHOW POOLS");
  EXPECT_EQ(client.say(many + sync()).rbegin()[1].field('C'), "54000");
  Bytes portals;
  for (int i = 0; i < 17; ++i)
    portals = std::move(portals) + bind_portal("p" + std::to_string(i), "s0");
  EXPECT_EQ(client.say(portals + sync()).rbegin()[1].field('C'), "54000");
}

TEST(ConsoleFlow, KeepsOrderWhenTheRouterAnswersLater) {
  ConsoleClient client;
  client.router.hold = true;
  EXPECT_TRUE(client.raw(query("SHOW POOLS") + query("SELECT 1") + query("RELOAD; SELECT 2")).empty());
  EXPECT_FALSE(client.session.wants_input());
  EXPECT_EQ(client.router.held.size(), 1U);
  client.router.release();
  EXPECT_EQ(client.wakes, 1);
  EXPECT_EQ(types(split_answers(client.drain())), "TDCZTDCZ");
  client.router.release();
  EXPECT_EQ(client.wakes, 2);
  EXPECT_EQ(types(split_answers(client.drain())), "CTDCZ");
  EXPECT_TRUE(client.session.wants_input());
}

TEST(ConsoleFlow, IsNotMissedByAnswersThatComeAfterItsEnd) {
  FakeRouterView router;
  router.hold = true;
  int wakes = 0;
  auto session = std::make_unique<ConsoleSession>(router, ConsoleSession::Settings{}, [&] { ++wakes; });
  session->start();
  session->feed(query("SHOW CLIENTS"));
  session.reset();
  router.release();
  EXPECT_EQ(wakes, 0);
}

TEST(ConsoleFlow, MayBeDestroyedByItsOwnWake) {
  FakeRouterView router;
  router.hold = true;
  std::unique_ptr<ConsoleSession> session;
  session = std::make_unique<ConsoleSession>(router, ConsoleSession::Settings{}, [&] { session.reset(); });
  session->start();
  session->feed(query("SHOW CLIENTS"));
  router.release();
  EXPECT_EQ(session, nullptr);
}

TEST(ConsoleFlow, EncodesNoMoreThanTheOutputBound) {
  constexpr std::size_t kBound = 4096;
  ConsoleClient client(Privilege::Admin, kBound);
  client.router.snapshot.pools.assign(10'000, client.router.snapshot.pools[0]);
  client.session.feed(query("SHOW POOLS"));
  std::size_t rows = 0;
  std::string end;
  for (Bytes piece = client.session.take_output(); !piece.empty(); piece = client.session.take_output()) {
    EXPECT_LT(piece.size(), kBound + 2048);
    for (const Answer& a : split_answers(piece)) {
      rows += a.type == 'D' ? 1 : 0;
      end += a.type == 'D' ? "" : std::string(1, a.type);
    }
  }
  EXPECT_EQ(rows, 10'000U);
  EXPECT_EQ(end, "TCZ");
}

TEST(ConsoleFlow, GivesTheSameAnswersWhereverTheBytesAreCut) {
  const Bytes bytes = query("SHOW POOLS") + parse("s", "SHOW LISTS") + bind_portal("", "s", {1}) +
                      execute("", 3) + sync() + query("BEGIN; SHOW nosuch") +
                      query("ROLLBACK; SELECT 'caf\xc3\xa9'") + message('X', "");
  const Bytes whole = ConsoleClient().raw(bytes);
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    ConsoleClient client;
    Bytes out = client.raw(Bytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(cut)));
    append(out, client.raw(Bytes(bytes.begin() + static_cast<std::ptrdiff_t>(cut), bytes.end())));
    ASSERT_EQ(out, whole) << "cut=" << cut;
  }
  ConsoleClient client;
  Bytes out;
  for (const std::byte byte : bytes)
    append(out, client.raw(Bytes{byte}));
  EXPECT_EQ(out, whole);
}

TEST(ConsoleFlow, SurvivesEveryTruncationAndEveryFlippedByte) {
  const Bytes bytes =
      parse("s", "SHOW LISTS") + bind_portal("", "s", {1}) + describe('P', "") + execute("", 3) + sync();
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    for (const unsigned flip : {0x01U, 0x80U, 0xFFU}) {
      Bytes broken = bytes;
      broken[i] ^= static_cast<std::byte>(flip);
      ConsoleClient client;
      client.raw(broken);
    }
  }
}

}  // namespace
}  // namespace sluice::admin::testing
