#include "router/hand_over.h"

#include <string>

#include <gtest/gtest.h>

#include "protocol/backend_messages.h"

namespace sluice::router {
namespace {

using namespace std::string_view_literals;
using Want = HandOver::Want;
using Parameters = std::vector<std::pair<std::string, std::string>>;

class HandOvers : public testing::Test {
 protected:
  HandOvers() {
    server.on_report("TimeZone", "UTC");
    client.greet(server);
  }
  HandOver returning(HandOver::Position position) {
    return HandOver(HandOver::Purpose::Return, position, statements, server, client);
  }
  // As if the client had set it, in a transaction before.
  void set(const std::string& name, const std::string& value) {
    client.on_set(name);
    const std::optional<std::string> read = value;
    client.on_read(server, {&read, 1});
    client.on_hand_back(server);
  }
  // The server's answer to what was sent, which is the Query that begins so.
  Want answer(HandOver& hand_over, std::string_view query, ByteView bytes) {
    const Bytes sent = hand_over.take_output();
    EXPECT_TRUE(as_text(ByteView(sent).subspan(std::min<std::size_t>(5, sent.size()))).starts_with(query));
    hand_over.feed(bytes);
    return hand_over.step();
  }
  static Bytes row(const std::string& value) {
    Bytes out;
    const std::optional<std::string> column = value;
    protocol::append_data_row(out, {&column, 1});
    protocol::append_command_complete(out, "SELECT 1");
    protocol::append_ready_for_query(out, 'I');
    return out;
  }
  static Bytes error(const std::string& sqlstate) {
    Bytes out;
    protocol::append_error_response(out, {"ERROR", sqlstate, "no", "", ""});
    protocol::append_ready_for_query(out, 'I');
    return out;
  }

  pooling::SettingsStore store;
  const pooling::TrackedSettings tracked{std::vector<std::string>{"*"}};
  pooling::ServerStatements statements{10};
  pooling::ServerSettings server{store};
  pooling::ClientSettings client{store, tracked, Parameters{}};
};

constexpr std::string_view kRead = "SELECT pg_catalog.left(pg_catalog.current_setting(";
constexpr std::string_view kPosition = "SELECT pg_catalog.pg_wal_lsn_diff(";

// B28: a cancel that comes late hits what the router asks.
TEST_F(HandOvers, AskAgainWhatACancelCutShort) {
  client.on_set("search_path");
  HandOver hand_over = returning(HandOver::Position::Asked);
  EXPECT_EQ(hand_over.step(), Want::Read);
  EXPECT_EQ(answer(hand_over, kRead, error("57014")), Want::Read);
  EXPECT_EQ(answer(hand_over, kRead, row("x")), Want::Read);
  EXPECT_EQ(answer(hand_over, kPosition, error("57014")), Want::Read);
  EXPECT_EQ(answer(hand_over, kPosition, row("77")), Want::Done);
  EXPECT_EQ(hand_over.position(), 77U);
  EXPECT_EQ(*pooling::value_of(*client.wanted(), "search_path"), "x");
}

// B61
TEST_F(HandOvers, SetTheEncodingBeforeWhatIsWrittenInIt) {
  server.on_report("client_encoding", "UTF8");
  client.greet(server);
  set("search_path", "\xc3\xa9");
  server.on_report("client_encoding", "LATIN1");  // another client was here
  HandOver hand_over(HandOver::Purpose::Take, HandOver::Position::Unasked, statements, server, client);
  EXPECT_EQ(hand_over.step(), Want::Read);
  EXPECT_EQ(
      answer(hand_over, "SELECT pg_catalog.set_config('client_encoding', 'UTF8', false)\0"sv, row("UTF8")),
      Want::Read);
  EXPECT_EQ(answer(hand_over, "SELECT pg_catalog.set_config('search_path', '\xc3\xa9', false)\0"sv,
                   row("\xc3\xa9")),
            Want::Done);
  EXPECT_EQ(*pooling::value_of(*server.current(), "client_encoding"), "UTF8");
}

TEST_F(HandOvers, SayWhereWhatWasReadIsTooMuch) {
  for (const std::size_t bytes : {std::size_t{100}, std::size_t{30'000}}) {
    client.on_set("x.y");
    HandOver hand_over = returning(HandOver::Position::Asked);
    EXPECT_EQ(hand_over.step(), Want::Read);
    EXPECT_EQ(answer(hand_over, kRead, row(std::string(bytes, 'v'))), Want::Read);
    EXPECT_EQ(answer(hand_over, kPosition, row("77")), Want::Done);
    EXPECT_EQ(hand_over.stays(), bytes > 100);
  }
}

TEST_F(HandOvers, AskNotForEver) {
  client.on_set("search_path");
  HandOver hand_over = returning(HandOver::Position::Unasked);
  EXPECT_EQ(hand_over.step(), Want::Read);
  for (int i = 1; i < pooling::SettingsMachine::kAttemptsMax; ++i)
    EXPECT_EQ(answer(hand_over, kRead, error("57014")), Want::Read);
  EXPECT_EQ(answer(hand_over, kRead, error("57014")), Want::Failed);
  ASSERT_TRUE(hand_over.error()) << "it is at rest";
  EXPECT_EQ(client.read_sql().find(kRead), 0U) << "still to be asked";
}

TEST_F(HandOvers, DoWithoutAPositionThatTheServerDoesNotTell) {
  HandOver hand_over = returning(HandOver::Position::Asked);
  EXPECT_EQ(hand_over.step(), Want::Read);
  EXPECT_EQ(answer(hand_over, kPosition, error("55000")), Want::Done);
  EXPECT_FALSE(hand_over.position());
}

TEST_F(HandOvers, FailWithoutWordsWhereTheServerIsOfNoMoreUse) {
  client.on_set("search_path");
  HandOver hand_over = returning(HandOver::Position::Unasked);
  EXPECT_EQ(hand_over.step(), Want::Read);
  Bytes broken = error("57014");
  broken.back() = std::byte{'E'};
  EXPECT_EQ(answer(hand_over, kRead, broken), Want::Failed);
  EXPECT_FALSE(hand_over.error());
}

}  // namespace
}  // namespace sluice::router
