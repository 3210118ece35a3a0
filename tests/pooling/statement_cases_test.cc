// Prepared statements and their troubles, each judged against a server of the client's own.
#include <string>

#include <gtest/gtest.h>

#include "tests/pooling/pooled_world.h"

namespace sluice::pooling {
namespace {

using test::Stream;
using test::World;

TEST(Statements, SkipToSyncAfterAnError) {  // B30
  World world;
  Stream stream;
  stream.parse("", "select fail")
      .bind("", "")
      .execute()
      .close('S', "x")
      .query("select 2")
      .describe('P', "")
      .sync();
  world.a_on(world.one, stream);
  world.a_on(world.one, Stream().parse("", "selec 1").sync());
  world.a_on(world.one, Stream().query("select 3"));
}

TEST(Statements, GiveTheErrorAtOnceAndSkipWhatFollows) {  // B30, without the Sync at first
  World world;
  world.a_on(world.one, Stream().parse("s1", "select fail").bind("", "s1").execute().flush());
  EXPECT_EQ(world.a.hand_back(), HandBack::Busy);
  world.a_on(world.one, Stream().parse("s2", "select 2").close('S', "s1").query("select 1"));
  world.a_on(world.one, Stream().sync());
  world.a_on(world.one, Stream().bind("", "s2").sync());
  world.a_on(world.two, Stream().bind("", "s1").execute().sync());
}

TEST(Statements, AFailedParseLeavesTheNameFree) {  // B31
  World world;
  world.a_on(world.one, Stream().query("begin"));
  world.a_on(world.one, Stream().query("select fail"));
  world.a_on(world.one, Stream().parse("s1", "select 1").sync());
  world.a_on(world.one, Stream().query("rollback"));
  world.a_on(world.two, Stream().parse("s1", "select 1").bind("", "s1").execute().sync());
  world.b_on(world.one, Stream().parse("t", "select missing").sync());
  world.b_on(world.two, Stream().bind("", "t").sync());
}

TEST(Statements, ParseInAFailedTransactionFailsThoughTheServerHasTheStatement) {
  World world;
  world.b_on(world.one, Stream().parse("x", "select 1").parse("r", "rollback").sync());
  world.a_on(world.one, Stream().query("begin; select fail"));
  world.a_on(world.one, Stream().parse("s1", "select 1").sync());
  world.a_on(world.one, Stream().parse("r", "rollback").bind("", "r").execute().sync());
  world.a_on(world.one, Stream().bind("", "s1").sync());
  world.b_on(world.one, Stream().bind("", "x").execute().sync());
}

TEST(Statements, DescribeAndCloseWorkOnAServerThatLacksThem) {  // B32
  World world;
  world.a_on(world.one, Stream().parse("s1", "select 1").sync());
  world.a_on(world.two, Stream().describe('S', "s1").sync());
  world.a_on(world.two, Stream().close('S', "s1").sync());
  world.a_on(world.one, Stream().parse("s1", "select 2").bind("", "s1").execute().sync());
  world.a_on(world.one, Stream().describe('S', "nope").sync());
  world.a_on(world.one, Stream().bind("", "nope").sync());
}

TEST(Statements, CloseKnowsPortalsFromStatements) {  // B34
  World world;
  world.a_on(world.one, Stream().close('S', "nope").close('P', "nope").sync());
  Stream stream;
  stream.parse("x", "select 1").bind("x", "x").close('P', "x").bind("", "x").execute().sync();
  world.a_on(world.one, stream);
  world.a_on(world.one, Stream().parse("b", "select b").sync());
  world.a_on(world.two, Stream().parse("a", "select a").close('S', "b").parse("c", "select c").sync());
  world.a_on(world.two, Stream().bind("", "b").sync());
}

TEST(Statements, ParseBehindDeallocateAllSurvives) {  // B35
  for (const std::string reset : {"deallocate all", "discard all"}) {
    World world;
    world.a_on(world.one, Stream().parse("s1", "select 1").sync());
    world.b_on(world.one, Stream().parse("s1", "select 1").parse("t", "select 7").sync());
    Stream stream;
    stream.parse("", reset).bind("", "").execute().parse("s2", "select 7").bind("", "s2").execute().sync();
    world.a_on(world.one, stream);
    world.a_on(world.one, Stream().bind("", "s2").execute().sync());
    world.a_on(world.two, Stream().bind("", "s2").execute().sync());
    world.a_on(world.one, Stream().bind("", "s1").sync());
    world.a_on(world.one, Stream().query(reset));
    world.a_on(world.one, Stream().bind("", "s2").sync());
    world.b_on(world.one, Stream().bind("", "t").execute().bind("", "s1").execute().sync());
  }
}

TEST(Statements, DeallocateOfAProtocolLevelNameWorks) {  // B35
  World world;
  world.a_on(world.one, Stream().parse("s3", "select 3").sync());
  world.a_on(world.two, Stream().query("deallocate s3"));
  world.a_on(world.two, Stream().query("deallocate s3"));
  world.a_on(world.one, Stream().bind("", "s3").sync());
  world.a_on(world.one, Stream().parse("s4", "select 4").sync());
  world.a_on(world.two, Stream().parse("", "deallocate s4").bind("", "").execute().sync());
  world.a_on(world.two, Stream().bind("", "").execute().sync());
  world.a_on(world.two, Stream().parse("s4", "select 5").bind("", "s4").execute().sync());
}

TEST(Statements, DeallocateInAFailedBatchChangesNothing) {
  World world;
  world.a_on(world.one, Stream().parse("s", "select 1").sync());
  Stream stream;
  stream.parse("", "deallocate s")
      .bind("d", "")
      .parse("", "select fail")
      .bind("", "")
      .execute()
      .execute("d")
      .sync();
  world.a_on(world.one, stream);
  world.a_on(world.two, Stream().bind("", "s").execute().sync());
  Stream all;
  all.parse("", "deallocate all")
      .bind("d", "")
      .parse("", "select fail")
      .bind("", "")
      .execute()
      .execute("d")
      .sync();
  world.a_on(world.two, all);
  world.a_on(world.two, Stream().bind("", "s").execute().sync());
}

TEST(Statements, ANameInUseIsPostgresOwnError) {
  World world;
  world.a_on(world.one, Stream().parse("s", "select 1").sync());
  world.a_on(world.two, Stream().parse("s", "select 2").sync());
  world.a_on(world.two, Stream().parse("s", "selec 2").sync());
  world.a_on(world.two, Stream().parse("s", "select missing").sync());
  world.a_on(world.one, Stream().bind("", "s").execute().sync());
  world.a_on(world.one, Stream().parse("t", "select 1").parse("t", "select 2").bind("", "t").sync());
  world.a_on(world.one, Stream().bind("", "t").execute().sync());
  world.a_on(world.one, Stream().query("begin; select fail"));
  world.a_on(world.one, Stream().parse("s", "rollback").sync());
  world.a_on(world.one, Stream().query("rollback"));
}

TEST(Statements, ErrorsNameTheClientsNames) {
  World world;
  world.a_on(world.one, Stream().parse("mine", "select 1", 2).sync());
  world.a_on(world.two, Stream().bind("", "mine", 1).sync());
  world.a_on(world.two, Stream().bind("", "sluice.0.1").sync());
  world.a_on(world.two, Stream().describe('S', "sluice.guard").sync());
  world.a_on(world.two, Stream().close('S', "sluice.0.1").bind("", "mine", 2).execute().sync());
}

TEST(Statements, ErrorsTellNamesOfOneTextApart) {
  World w;
  w.a_on(w.one, Stream().parse("a", "select 1").parse("b", "select 1").parse("c", "select 1").sync());
  for (test::PooledServer* server : {&w.one, &w.two})
    for (const std::string name : {"a", "b", "c"})
      w.a_on(*server, Stream().bind("", "a").bind("p", "b").bind("q", "c").bind("", name, 1).sync());
  w.a_on(w.one, Stream().bind("", "b", 1).sync());
  w.a_on(w.one, Stream().close('S', "b").close('S', "c").sync().bind("", "a", 1).sync());
}

TEST(Statements, RouterNamesAreOutOfReach) {
  World world;
  world.a_on(world.one, Stream().parse("s", "select secret").sync());
  world.b_on(world.one, Stream().bind("", "sluice.0.1").execute().sync());
  world.b_on(world.one, Stream().parse("sluice.0.1", "select mine").bind("", "sluice.0.1").execute().sync());
}

TEST(Statements, UnnamedFollowsAcrossServers) {
  World world;
  world.a_on(world.one, Stream().parse("", "select 1", 1).describe('S', "").sync());
  world.b_on(world.two, Stream().parse("", "select theirs").bind("", "").execute().sync());
  world.a_on(world.two, Stream().bind("", "", 1).execute().sync());
  world.b_on(world.two, Stream().bind("", "").execute().sync());
  world.a_on(world.two, Stream().describe('S', "").sync());
  world.a_on(world.two, Stream().query("select 2"));
  world.a_on(world.one, Stream().bind("", "").sync());
  world.a_on(world.one, Stream().parse("", "selec").sync());
  world.a_on(world.two, Stream().bind("", "").sync());
  world.a_on(world.one, Stream().parse("", "select 1").close('S', "").sync());
  world.a_on(world.two, Stream().bind("", "").sync());
}

TEST(Statements, UnnamedOfAnotherClientIsNotFound) {
  World world;
  world.b_on(world.one, Stream().parse("", "select secret").sync());
  world.a_on(world.one, Stream().bind("", "").execute().sync());
  world.a_on(world.one, Stream().describe('S', "").sync());
}

TEST(Statements, StayUnderTheServersLimit) {
  World world(2);
  Stream stream;
  for (int i = 0; i < 20; ++i) {
    stream.parse("s" + std::to_string(i), "select " + std::to_string(i));
    stream.bind("", "s" + std::to_string(i)).execute();
  }
  stream.sync();
  world.a_on(world.one, stream);
  EXPECT_LE(world.one.model.statement_count(), 2u);
  Stream again;
  for (int i = 0; i < 20; ++i)
    again.bind("", "s" + std::to_string(i)).execute().sync();
  world.a_on(world.two, again);
  EXPECT_LE(world.two.model.statement_count(), 2u);
  EXPECT_EQ(world.two.statements.size(), 2u);
}

TEST(Statements, QueryAndBatchInOneWriteKeepTheirOrder) {  // B44
  World world;
  for (const std::string first : {"set search_path = x", "discard all", "begin"}) {
    Stream stream;
    stream.query(first).parse("n", "select 1", 1).describe('S', "n").bind("", "n", 1, 5000).execute().sync();
    world.a_on(world.one, stream);
    world.a_on(world.one, Stream().close('S', "n").sync().query("rollback"));
  }
}

TEST(Statements, CopyAndItsSyncs) {  // B48, B49
  World world;
  Stream good;
  good.parse("c", "copy in").bind("", "c").execute().sync().copy_data().copy_done().sync();
  for (int i = 0; i < 3; ++i) {
    world.a_on(i % 2 == 0 ? world.one : world.two, good);
    if (i == 0) good = Stream().bind("", "c").execute().sync().copy_data().copy_done().sync();
    EXPECT_FALSE(world.a.attached());
  }
  Stream missing;
  missing.parse("", "select missing").bind("", "").execute().sync().copy_data().copy_done().sync();
  world.a_on(world.one, missing);
  EXPECT_FALSE(world.a.attached());
  world.a_on(world.two, Stream().query("copy fail").copy_data().copy_data().copy_done());
  EXPECT_FALSE(world.a.attached());
  world.a_on(world.two, Stream().bind("", "c").execute().copy_fail().sync());
  world.a_on(world.two,
             Stream().query("copy in").copy_data().copy_done().bind("", "c").execute().copy_done().sync());
}

// Was: the server stayed with a client that said no more, as one more ReadyForQuery might have come.
TEST(Statements, ACopyThatFailedBehindItsSyncsKeepsNoServer) {  // B48, B49
  for (const std::string sql : {"copy fail", "copy view", "copy in"})
    for (const int syncs : {1, 2, 3})
      for (const bool at_once : {false, true}) {
        World world;
        Stream copy, rest;
        copy.parse("", sql).bind("", "").execute();
        for (int i = 0; i < syncs; ++i)
          copy.sync();
        rest.copy_data();
        if (sql == "copy in") rest.copy_fail();
        rest.copy_done().sync();
        if (at_once) {
          Bytes all = copy.take();
          append(all, rest.bytes());
          world.a.run(all, world.one);
        } else {
          world.a.run(copy.bytes(), world.one);
          world.a.run(rest.bytes(), world.one);
        }
        const std::string what = sql + " " + std::to_string(syncs) + (at_once ? " at once" : "");
        std::string right = "1 2 G ";
        right += sql == "copy fail"   ? "E22P04(bad row)"
                 : sql == "copy view" ? "E55000(cannot copy to view)"
                                      : "E57014(COPY from stdin failed)";
        for (int i = 0; i <= (sql == "copy view" ? syncs : 0); ++i)
          right += " Z(I)";
        EXPECT_EQ(test::words(world.a.received()), right) << what;
        EXPECT_FALSE(world.a.attached()) << what;
        world.a_on(world.two, Stream().query("select 1"));
      }
  // Within a block the client's next words tell.
  World world;
  Stream block;
  block.query("begin").parse("", "copy fail").bind("", "").execute().sync().copy_data().copy_done().sync();
  world.a_on(world.one, block);
  EXPECT_EQ(world.a.hand_back(), HandBack::Busy);
  world.a_on(world.one, Stream().query("rollback"));
  EXPECT_FALSE(world.a.attached());
}

TEST(Statements, AnOpenTransactionKeepsTheServer) {  // B42
  World world;
  Stream open;
  for (int i = 0; i < 20; ++i)
    open.parse("s" + std::to_string(i), i == 0 ? "begin" : "select 1")
        .bind("", "s" + std::to_string(i))
        .execute()
        .sync();
  world.a_on(world.one, open);
  EXPECT_TRUE(world.a.attached());
  EXPECT_EQ(world.a.hand_back(), HandBack::Busy);
  world.a_on(world.one, Stream().query("commit"));
  EXPECT_FALSE(world.a.attached());
}

TEST(Statements, LargeOnesStreamThroughAndPin) {
  TranslatorOptions options;
  options.statement_bytes_max = 100;
  World world(200, options);
  const std::string large = "select " + std::string(9000, 'x');
  world.a_on(world.one, Stream().parse("big", large).bind("", "big").execute().sync());
  EXPECT_EQ(world.a.hand_back(), HandBack::Pinned);
  EXPECT_EQ(world.a.translator().pins().first(), PinReason::LargeStatement);
  world.a_on(world.one, Stream().parse("big", large).sync());
  world.a_on(world.one, Stream().bind("", "big").execute().sync());
  // Unnamed: until it has been bound.
  world.b_on(world.two, Stream().parse("", large).describe('S', "").sync());
  EXPECT_EQ(world.b.hand_back(), HandBack::Pinned);
  world.b_on(world.two, Stream().bind("", "").execute().sync());
  EXPECT_FALSE(world.b.attached());
}

TEST(Statements, MoreThanIsKeptOfAClientPins) {
  TranslatorOptions options;
  options.client_statements_max = 3;
  World world(200, options);
  Stream stream;
  for (int i = 0; i < 6; ++i)
    stream.parse("s" + std::to_string(i), "select 1");
  world.a_on(world.one, stream.sync());
  EXPECT_EQ(world.a.translator().pins().first(), PinReason::ManyStatements);
  EXPECT_EQ(world.a.translator().statement_count(), 3u);
  world.a_on(world.one, Stream().bind("", "s5").execute().bind("", "s1").execute().sync());
}

TEST(Statements, SqlLevelOnesPinAndAreBoundAsTheyAre) {
  World world;
  world.a_on(world.one, Stream().query("prepare q"));
  EXPECT_EQ(world.a.hand_back(), HandBack::Pinned);
  world.a_on(world.one, Stream().bind("", "q").execute().sync());
  world.a_on(world.one, Stream().query("deallocate q"));
  world.a_on(world.one, Stream().bind("", "q").sync());
}

TEST(Statements, AServerThatLostThemGetsThemAgain) {
  World world;
  world.a_on(world.one, Stream().parse("s", "select 1").sync());
  world.one.model.consume(Stream().query("deallocate all").bytes());
  world.one.model.take();
  world.a_on(world.one, Stream().bind("", "s").execute().sync());
  world.a_on(world.one, Stream().bind("", "s").execute().sync());
}

}  // namespace
}  // namespace sluice::pooling
