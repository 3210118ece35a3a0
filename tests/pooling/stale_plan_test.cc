// "cached plan must not change result type": what the client sees of it, and what it does not.
#include <string>

#include <gtest/gtest.h>

#include "tests/pooling/pooled_world.h"

namespace sluice::pooling {
namespace {

using test::Stream;
using test::World;

const std::string kFresh = "2 T(select v2) D(select v) C(SELECT 1) Z(I)";
const std::string kStale = "E0A000(cached plan must not change result type) Z(I)";

TEST(StalePlan, IsUnseenByAClientThatNeverHadTheOldOne) {  // B40
  World world;
  world.a_gets(world.one, Stream().parse("s1", "select v").bind("", "s1").execute().sync());
  world.database.version = 2;
  Stream stream;
  stream.parse("s1", "select v").bind("", "s1").execute().sync();
  EXPECT_EQ(world.b_gets(world.one, stream), "1 2 D(select v) C(SELECT 1) Z(I)");
  EXPECT_FALSE(world.b.attached());
  EXPECT_EQ(world.a_gets(world.one, Stream().bind("", "s1").execute().sync()),
            "2 D(select v) C(SELECT 1) Z(I)");
}

TEST(StalePlan, IsUnseenByADescribe) {
  World world;
  world.a_gets(world.one, Stream().parse("s1", "select v").sync());
  world.database.version = 2;
  EXPECT_EQ(world.b_gets(world.one, Stream().parse("x", "select v").describe('S', "x").sync()),
            "1 t T(select v2) Z(I)");
  world.database.version = 3;
  const Stream stream = Stream().describe('S', "x").sync();
  for (std::size_t piece = 1; piece < 40; ++piece) {
    ++world.database.version;
    const std::size_t before = world.b.received().size();
    world.b.run(stream.bytes(), world.one, piece);
    EXPECT_EQ(test::words(ByteView(world.b.received()).subspan(before)),
              "t T(select v" + std::to_string(world.database.version) + ") Z(I)");
  }
}

TEST(StalePlan, IsRecoveredWhenTheBatchDescribesAnew) {
  World world;
  world.a_gets(world.one, Stream().parse("s1", "select v").describe('S', "s1").sync());
  world.database.version = 2;
  EXPECT_EQ(world.a_gets(world.one, Stream().bind("", "s1").describe('P', "").execute().sync()), kFresh);
  EXPECT_FALSE(world.a.attached());
}

TEST(StalePlan, IsTheClientsWhenItReliesOnAnOldDescription) {
  World world;
  world.a_gets(world.one, Stream().parse("s1", "select v").describe('S', "s1").sync());
  world.database.version = 2;
  EXPECT_EQ(world.a_gets(world.one, Stream().bind("", "s1").execute().sync()), kStale);
  // As drivers do then: another statement with the same text.
  EXPECT_EQ(
      world.a_gets(world.one, Stream().close('S', "s1").parse("s1", "select v").describe('S', "s1").sync()),
      "3 1 t T(select v2) Z(I)");
  EXPECT_EQ(world.a_gets(world.one, Stream().bind("", "s1").execute().sync()),
            "2 D(select v) C(SELECT 1) Z(I)");
}

TEST(StalePlan, IsTheClientsInATransactionBlock) {
  World world;
  world.a_gets(world.one, Stream().parse("s1", "select v").sync().query("begin"));
  world.database.version = 2;
  EXPECT_EQ(world.a_gets(world.one, Stream().bind("", "s1").describe('P', "").execute().sync()),
            "E0A000(cached plan must not change result type) Z(E)");
  world.a_gets(world.one, Stream().query("rollback"));
  EXPECT_EQ(world.a_gets(world.one, Stream().bind("", "s1").describe('P', "").execute().sync()), kFresh);
}

TEST(StalePlan, IsTheClientsWhenTheBatchHasBegunToAnswer) {
  World world;
  world.a_gets(world.one, Stream().parse("s1", "select v").parse("i", "insert").sync());
  world.database.version = 2;
  EXPECT_EQ(world.a_gets(world.one, Stream().bind("", "i").execute().bind("", "s1").execute().sync()),
            "2 C(INSERT 0 1) " + kStale);
}

TEST(StalePlan, IsTheClientsWhenMoreIsUnderWay) {
  World world;
  world.a_gets(world.one, Stream().parse("s1", "select v").parse("i", "insert").sync());
  world.database.version = 2;
  EXPECT_EQ(world.a_gets(world.one, Stream().bind("", "s1").execute().sync().bind("", "i").execute().sync()),
            kStale + " 2 C(INSERT 0 1) Z(I)");
}

TEST(StalePlan, IsRecoveredBeforeTheClientsSync) {
  World world;
  world.a_gets(world.one, Stream().parse("s1", "select v").sync());
  world.database.version = 2;
  EXPECT_EQ(world.a_gets(world.one, Stream().bind("", "s1").describe('P', "").flush()), "2 T(select v2)");
  EXPECT_EQ(world.a.hand_back(), HandBack::Busy);
  EXPECT_EQ(world.a_gets(world.one, Stream().execute().sync()), "D(select v) C(SELECT 1) Z(I)");
  EXPECT_FALSE(world.a.attached());
}

TEST(StalePlan, IsTheClientsWhenTheBatchIsTooLarge) {
  World world;
  world.a_gets(world.one, Stream().parse("s1", "select v", 1).sync());
  world.database.version = 2;
  EXPECT_EQ(world.a_gets(world.one, Stream().bind("", "s1", 1, 100'000).execute().sync()), kStale);
  EXPECT_EQ(world.a_gets(world.one, Stream().bind("", "s1", 1).execute().sync()),
            "2 D(select v) C(SELECT 1) Z(I)");
}

}  // namespace
}  // namespace sluice::pooling
