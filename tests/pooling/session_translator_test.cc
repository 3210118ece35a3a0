#include "pooling/session_translator.h"

#include <string>

#include <gtest/gtest.h>

#include "tests/pooling/pooled_world.h"
#include "tests/pooling/stream_builder.h"

namespace sluice::pooling {
namespace {

using test::Stream;
using test::World;

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

TEST(SessionTranslator, GivesTheSameWhereverBothDirectionsAreCut) {
  Stream stream;
  stream.parse("s1", "select 1", 1).describe('S', "s1").bind("p", "s1", 1).describe('P', "p").execute("p");
  stream.close('P', "p").close('S', "s1").parse("", "insert").bind("", "").execute().sync();
  stream.query("select 2; select 3").bind("", "s1").sync();
  stream.parse("s1", "select 4").bind("", "s1").execute().sync();
  for (std::size_t piece = 1; piece < stream.bytes().size(); ++piece) {
    World world(1);
    world.b_on(world.one, Stream().parse("other", "select 9").sync());
    world.a.run(stream.bytes(), world.one, piece);
    world.direct_a.consume(stream.bytes());
    EXPECT_EQ(test::words(world.a.received()), test::words(world.direct_a.take())) << "piece=" << piece;
  }
}

}  // namespace
}  // namespace sluice::pooling
