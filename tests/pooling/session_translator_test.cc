#include "pooling/session_translator.h"

#include <string>

#include <gtest/gtest.h>

#include "tests/pooling/pg_model.h"
#include "tests/pooling/pooled_client.h"
#include "tests/pooling/stream_builder.h"

namespace sluice::pooling {
namespace {

using test::Database;
using test::PgModel;
using test::PooledClient;
using test::PooledServer;
using test::Stream;

TEST(Pieces, JoinsNeighboursAndKeepsOrder) {
  const std::string_view input = "abcdef";
  Pieces pieces;
  pieces.pass(as_bytes(input.substr(0, 2)));
  pieces.pass(as_bytes(input.substr(2, 1)));
  append(pieces.own(), as_bytes("xy"));
  pieces.own_done();
  pieces.pass(as_bytes(input.substr(4)));
  EXPECT_EQ(pieces.count(), 3u);
  EXPECT_EQ(as_text(pieces.joined()), "abcxyef");
  EXPECT_EQ(pieces.bytes(), 7u);
  pieces.clear();
  EXPECT_TRUE(pieces.empty());
}

// A backend's stream in words: types, with what tells messages apart.
std::string words(ByteView bytes) {
  std::string out;
  ByteReader in(bytes);
  while (const auto type = in.u8()) {
    const ByteView body = *in.take(*in.u32() - 4);
    if (!out.empty()) out += ' ';
    out += static_cast<char>(*type);
    if (*type == 'E') {
      const std::string_view text = as_text(body);
      const std::size_t code = text.find(std::string_view("\0C", 2)) + 2;
      out += text.substr(code, 5);
      const std::size_t message = text.find(std::string_view("\0M", 2)) + 2;
      out += '(' + std::string(text.substr(message, text.find('\0', message) - message)) + ')';
    } else if (*type == 'C' || *type == 'D' || *type == 'Z' || *type == 'T') {
      out += '(' + std::string(as_text(body).substr(0, as_text(body).find('\0'))) + ')';
    }
  }
  return out;
}

// Two servers, two clients, and for each client a server of its own that says what is right.
struct World {
  explicit World(std::size_t statements_max = 200, TranslatorOptions o = {})
      : options(o),
        one(database, settings, statements_max),
        two(database, settings, statements_max),
        a(1, statements, settings, tracked, options),
        b(2, statements, settings, tracked, options),
        direct_a(database),
        direct_b(database) {}

  // `stream` of client A on `server` gives what PostgreSQL gives.
  void expect_as_direct(const Stream& stream, PooledServer& server, PooledClient& client, PgModel& direct) {
    const std::size_t before = client.received().size();
    client.run(stream.bytes(), server);
    direct.consume(stream.bytes());
    const Bytes right = direct.take();
    EXPECT_EQ(words(ByteView(client.received()).subspan(before)), words(right));
  }
  void a_on(PooledServer& server, const Stream& stream) { expect_as_direct(stream, server, a, direct_a); }
  void b_on(PooledServer& server, const Stream& stream) { expect_as_direct(stream, server, b, direct_b); }
  std::string a_gets(PooledServer& server, const Stream& stream) {
    const std::size_t before = a.received().size();
    a.run(stream.bytes(), server);
    return words(ByteView(a.received()).subspan(before));
  }
  std::string b_gets(PooledServer& server, const Stream& stream) {
    const std::size_t before = b.received().size();
    b.run(stream.bytes(), server);
    return words(ByteView(b.received()).subspan(before));
  }

  Database database;
  TranslatorOptions options;
  StatementStore statements{0, 1 << 20};
  SettingsStore settings;
  TrackedSettings tracked{std::vector<std::string>{"search_path"}};
  PooledServer one, two;
  PooledClient a, b;
  PgModel direct_a, direct_b;
};

TEST(SessionTranslator, PassesQueriesAndUnnamedBatchesUntouched) {
  World world;
  world.a.attach(world.one);
  const Bytes bytes =
      Stream().query("select 1").parse("", "select 2").bind("", "").describe('P', "").execute().sync().take();
  Pieces out;
  struct {
    void on_piece(char, ByteView, bool, SessionTranslator::TimePoint) {}
  } nobody;
  EXPECT_EQ(world.a.translator().on_client(bytes, {}, nobody, out), bytes.size());
  ASSERT_EQ(out.count(), 1u);
  EXPECT_EQ(out.view(0).data(), bytes.data());
  EXPECT_EQ(out.view(0).size(), bytes.size());
}

TEST(SessionTranslator, CarriesANamedStatementToAnotherServer) {
  World world;
  world.a_on(world.one, Stream().parse("s1", "select 1").sync());
  world.a_on(world.two, Stream().bind("", "s1").describe('P', "").execute().sync());
  world.a_on(world.two, Stream().bind("", "s1").execute().sync());
  world.a_on(world.one, Stream().bind("", "s1").execute().sync());
  EXPECT_EQ(world.one.model.prepared_total(), 1u);
  EXPECT_EQ(world.two.model.prepared_total(), 1u);
}

TEST(SessionTranslator, SharesAStatementBetweenClients) {
  World world;
  world.a_on(world.one, Stream().parse("s1", "select 1").bind("", "s1").execute().sync());
  world.b_on(world.one, Stream().parse("x", "select 1").describe('S', "x").bind("", "x").execute().sync());
  EXPECT_EQ(world.one.model.prepared_total(), 1u);
}

}  // namespace
}  // namespace sluice::pooling
