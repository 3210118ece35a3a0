// What pins a session, what is refused instead, and what the router's own listener takes over.
#include <string>

#include <gtest/gtest.h>

#include "protocol/backend_messages.h"
#include "tests/pooling/pooled_world.h"

namespace sluice::pooling {
namespace {

using test::Stream;
using test::World;
using Listens = std::vector<ListenChange>;

TEST(Pinning, SetOfWhatDoesNotFollowPins) {
  World world;
  world.a_on(world.one, Stream().query("set search_path = x"));
  EXPECT_FALSE(world.a.attached());
  world.a_on(world.one, Stream().query("set local work_mem = 1"));
  EXPECT_FALSE(world.a.attached());
  world.a_on(world.one, Stream().parse("", "set work_mem = 1").sync());
  EXPECT_FALSE(world.a.attached());
  world.a_on(world.one, Stream().bind("", "").execute().sync());
  EXPECT_EQ(world.a.hand_back(), HandBack::Pinned);
  EXPECT_EQ(world.a.translator().pins().first(), PinReason::Set);
}

TEST(Pinning, DiscardAllEndsIt) {
  World world;
  world.a_on(world.one, Stream().parse("p", "prepare x").bind("", "p").execute().sync());
  EXPECT_EQ(world.a.hand_back(), HandBack::Pinned);
  world.a_on(world.one, Stream().query("begin; discard all"));
  EXPECT_EQ(world.a.translator().pins().first(), PinReason::SqlPrepare);
  world.a_on(world.one, Stream().query("rollback").query("discard all"));
  EXPECT_FALSE(world.a.attached());
}

TEST(Pinning, IsRefusedInItsPlaceWhereSoConfigured) {
  TranslatorOptions options;
  options.on_pin = TranslatorOptions::OnPin::Refuse;
  World world(200, options);
  const std::string refused = "E0A000(this would bind the session to one server (prepare))";
  EXPECT_EQ(world.a_gets(world.one, Stream().query("prepare x").query("select 1")),
            refused + " Z(I) T(select 1) D(select 1) C(SELECT 1) Z(I)");
  Stream batch;
  batch.parse("", "insert").bind("", "").execute().parse("n", "prepare x").bind("", "n").execute().sync();
  EXPECT_EQ(world.a_gets(world.one, batch.bind("", "n").sync()),
            "1 2 C(INSERT 0 1) " + refused + " Z(I) E26000(prepared statement \"n\" does not exist) Z(I)");
  EXPECT_EQ(
      world.a_gets(world.one, Stream().query("begin").parse("", "set work_mem = 1").bind("", "").sync()),
      "C(BEGIN) Z(T) E0A000(this would bind the session to one server (set)) Z(E)");
  EXPECT_EQ(world.a_gets(world.one, Stream().query("rollback").bind("", "").sync()),
            "C(ROLLBACK) Z(I) E26000(unnamed prepared statement does not exist) Z(I)");
  EXPECT_FALSE(world.a.attached());
  EXPECT_EQ(world.one.model.statement_count(), 0u);
}

TEST(Pinning, ListenNeverReachesAServer) {
  World world;
  EXPECT_EQ(world.a_gets(world.one, Stream().query("listen Chan")), "C(LISTEN) Z(I)");
  EXPECT_EQ(world.a_gets(world.one, Stream().parse("", "listen b").bind("", "").execute().sync()),
            "1 2 C(LISTEN) Z(I)");
  EXPECT_EQ(world.a_gets(world.one, Stream().query("unlisten chan")), "C(UNLISTEN) Z(I)");
  EXPECT_FALSE(world.one.model.listening());
  EXPECT_FALSE(world.a.attached());
  EXPECT_EQ(world.a.translator().take_listens(),
            (Listens{{SqlAction::Listen, "chan"}, {SqlAction::Listen, "b"}, {SqlAction::Unlisten, "chan"}}));
}

TEST(Pinning, ListenCountsWhenItsTransactionIsCommitted) {
  World world;
  world.a_gets(world.one, Stream().query("begin").query("listen a"));
  EXPECT_EQ(world.a.translator().take_listens(), Listens{});
  world.a_gets(world.one, Stream().query("commit"));
  EXPECT_EQ(world.a.translator().take_listens(), (Listens{{SqlAction::Listen, "a"}}));
  world.a_gets(world.one, Stream().query("begin").query("listen b").query("rollback"));
  world.a_gets(world.one, Stream().query("begin").query("listen c").query("select fail").query("commit"));
  Stream batch;
  batch.parse("", "listen d").bind("", "").execute().parse("", "select fail").bind("", "").execute().sync();
  world.a_gets(world.one, batch);
  EXPECT_EQ(world.a.translator().take_listens(), Listens{});
  world.a_gets(world.one, Stream().query("discard all"));
  EXPECT_EQ(world.a.translator().take_listens(), (Listens{{SqlAction::UnlistenAll, ""}}));
}

Listens listens_of(const std::vector<std::string>& queries) {
  World world;
  for (const std::string& query : queries)
    world.a_gets(world.one, Stream().query(query));
  return world.a.translator().take_listens();
}

// What PostgreSQL forgets with what is rolled back.
TEST(Pinning, ListenEndsWithThePartOfItsTransactionThatIsRolledBack) {
  const ListenChange a{SqlAction::Listen, "a"};
  const ListenChange b{SqlAction::Listen, "b"};
  EXPECT_EQ(listens_of({"begin", "listen a", "rollback; select 1"}), Listens{});
  EXPECT_EQ(listens_of({"begin", "listen a", "rollback; begin", "commit"}), Listens{});
  EXPECT_EQ(listens_of({"begin", "listen a", "commit; begin", "listen b", "rollback"}), Listens{a});
  EXPECT_EQ(listens_of({"begin", "listen a", "savepoint s", "listen b", "rollback to s", "commit"}),
            Listens{a});
  EXPECT_EQ(listens_of({"begin", "savepoint s", "listen a", "rollback to s", "listen b", "commit"}),
            Listens{b});
  EXPECT_EQ(listens_of({"begin", "listen a", "savepoint s", "listen b", "release s", "commit"}),
            (Listens{a, b}));
  EXPECT_EQ(listens_of({"begin", "listen a", "savepoint s", "listen b", "select fail",
                        "rollback to savepoint s; commit"}),
            Listens{a});
  EXPECT_EQ(listens_of({"begin", "listen a", "select fail", "commit"}), Listens{});
  EXPECT_EQ(listens_of({"begin", "listen a", "commit; select fail"}), Listens{a});
}

// Was: the tag of what followed a function's END was taken for that END's.
TEST(Pinning, WhatOnlyLooksLikeAnEndOfTheTransactionIsNone) {
  const ListenChange a{SqlAction::Listen, "a"};
  EXPECT_EQ(listens_of({"begin", "listen a", "savepoint s", "listen b",
                        "create function f() begin atomic select 1 end; rollback to s", "commit"}),
            Listens{a});
  // Its own statements are not answered, nor are those that the server does not get to.
  EXPECT_EQ(listens_of({"begin", "listen a", "select 1; select fail; savepoint s; commit", "rollback"}),
            Listens{});
}

// Was: PREPARE TRANSACTION worked, and what it had asked to listen to was listened to.
TEST(Pinning, ATransactionThatListensIsNotPrepared) {
  const std::string refused =
      "E0A000(cannot PREPARE a transaction that has executed LISTEN, UNLISTEN, or NOTIFY)";
  World world;
  EXPECT_EQ(
      world.a_gets(world.one, Stream().query("begin").query("listen a").query("prepare transaction 'x'")),
      "C(BEGIN) Z(T) C(LISTEN) Z(T) " + refused + " Z(I)");
  EXPECT_FALSE(world.a.attached()) << "it is over";
  EXPECT_EQ(
      world.a_gets(
          world.one,
          Stream().query("begin").query("listen a").query("select fail").query("prepare transaction 'x'")),
      "C(BEGIN) Z(T) C(LISTEN) Z(T) T(select fail) E22012(division by zero) Z(E) C(ROLLBACK) Z(I)");
  EXPECT_EQ(
      world.a_gets(world.one,
                   Stream().query("begin").query("listen a").query("select 1; prepare transaction 'x'")),
      "C(BEGIN) Z(T) C(LISTEN) Z(T) " + refused + " Z(E)");
  EXPECT_EQ(world.a_gets(world.one, Stream().query("rollback")), "C(ROLLBACK) Z(I)");

  Stream batch;
  for (const char* const sql : {"begin", "listen a", "prepare transaction 'x'"})
    batch.parse("", sql).bind("", "").execute();
  EXPECT_EQ(world.a_gets(world.one, batch.sync().query("rollback")),
            "1 2 C(BEGIN) 1 2 C(LISTEN) 1 2 " + refused + " Z(E) C(ROLLBACK) Z(I)");
  EXPECT_EQ(world.a.translator().take_listens(), Listens{});

  EXPECT_EQ(world.a_gets(world.one, Stream()
                                        .query("begin")
                                        .query("savepoint s")
                                        .query("listen a")
                                        .query("rollback to s")
                                        .query("prepare transaction 'x'")),
            "C(BEGIN) Z(T) C(SAVEPOINT) Z(T) C(LISTEN) Z(T) C(ROLLBACK) Z(T) C(PREPARE TRANSACTION) Z(I)")
      << "what was taken back does not count";
}

TEST(Pinning, MoreStepsThanAreLookedAtAreRefusedWhileSomethingIsListenedTo) {
  std::string sql;
  for (std::size_t i = 0; i <= kTransactionStepsMax; ++i)
    sql += "savepoint s;";
  World world;
  EXPECT_EQ(world.a_gets(world.one, Stream().query("begin").query(sql)).find("E54"), std::string::npos);
  EXPECT_EQ(world.a_gets(world.one, Stream().query("listen a")), "C(LISTEN) Z(T)");
  EXPECT_TRUE(world.a_gets(world.one, Stream().query(sql)).starts_with("E54000(too many savepoints"));
  EXPECT_EQ(world.a_gets(world.one, Stream().query("rollback")), "C(ROLLBACK) Z(I)");
}

using Channels = std::vector<std::string>;

TEST(Pinning, AChannelIsListenedToBeforeItsTransactionGoesOn) {
  World world;
  world.a_gets(world.one, Stream().query("listen a"));
  EXPECT_EQ(world.a.take_begun(), Channels{}) << "committed by itself";
  world.a_gets(world.one, Stream().query("begin").query("listen a").query("unlisten b").query("commit"));
  EXPECT_EQ(world.a.take_begun(), Channels{"a"});
  EXPECT_TRUE(world.a.translator().take_listens_over());
  EXPECT_FALSE(world.a.translator().take_listens_over());
  world.a_gets(world.one, Stream().query("begin").query("select fail").query("listen a").query("rollback"));
  EXPECT_EQ(world.a.take_begun(), Channels{});
  Stream batch;
  for (const char* const sql : {"listen b", "select 1", "listen c"})
    batch.parse("", sql).bind("", "").execute();
  world.a_gets(world.one, batch.sync());
  EXPECT_EQ(world.a.take_begun(), (Channels{"b", "c"}));
  EXPECT_TRUE(world.a.translator().take_listens_over());
}

// Nothing is taken of the client meanwhile, but for the end of what holds that LISTEN alone.
TEST(Pinning, WhatFollowsAListenWaitsUntilItIsListenedTo) {
  World world;
  SessionTranslator& translator = world.a.translator();
  struct {
    void on_piece(char, ByteView, bool, SessionTranslator::TimePoint) {}
  } nobody;
  const auto taken = [&](const Stream& stream) {
    Pieces out;
    return translator.on_client(stream.bytes(), {}, nobody, out);
  };
  world.a_gets(world.one, Stream().query("begin"));
  const Stream listen = Stream().query("listen a"), more = Stream().query("commit");
  EXPECT_EQ(taken(listen), listen.bytes().size());
  EXPECT_TRUE(translator.awaits_listens());
  EXPECT_FALSE(translator.held()) << "nothing waits yet";
  EXPECT_EQ(taken(more), 0U);
  EXPECT_TRUE(translator.held());
  translator.detach();

  for (const bool alone : {true, false}) {
    world.a.attach(world.two);
    Stream batch;
    if (!alone) batch.parse("", "select 1").bind("", "").execute();
    batch.parse("", "listen a").bind("", "").execute();
    EXPECT_EQ(taken(batch), batch.bytes().size());
    EXPECT_TRUE(translator.awaits_listens());
    const Stream sync = Stream().sync();
    EXPECT_EQ(taken(sync), alone ? sync.bytes().size() : 0U);
    EXPECT_EQ(translator.awaits_listens(), !alone);
    translator.detach();
    world.a.detach();
  }
}

// Was: what others notified was kept for the client during any statement.
TEST(Pinning, WithinABlockOnlyACommitMayHaveCommittedAListen) {
  TranslatorOptions options;
  options.statement_bytes_max = 1000;
  const auto may_be_committed = [&](const Stream& before, const Stream& behind) {
    World world(200, options);
    world.a_gets(world.one, before);
    if (!world.a.attached()) world.a.attach(world.one);
    EXPECT_FALSE(world.a.translator().commit_in_flight()) << "nothing is in flight";
    world.a.send(behind.bytes());
    const bool may = world.a.translator().commit_in_flight();
    while (world.a.receive(1 << 20)) {
    }
    EXPECT_FALSE(world.a.translator().commit_in_flight()) << "all is answered";
    return may;
  };
  const auto batch = [](const std::vector<std::string>& texts) {
    Stream stream;
    for (const std::string& sql : texts)
      stream.parse("", sql).bind("", "").execute();
    return stream.sync();
  };
  const Stream block = Stream().query("begin").query("listen a");
  EXPECT_FALSE(may_be_committed(block, Stream().query("select 1")));
  EXPECT_FALSE(may_be_committed(block, Stream().query("rollback")));
  EXPECT_FALSE(may_be_committed(block, batch({"select 1"})));
  EXPECT_FALSE(may_be_committed(block, batch({"rollback"})));
  EXPECT_TRUE(may_be_committed(block, Stream().query("commit")));
  EXPECT_TRUE(may_be_committed(block, Stream().query("select 1; commit")));
  EXPECT_TRUE(may_be_committed(block, batch({"select 1", "commit"})));
  EXPECT_TRUE(may_be_committed(block, Stream().query("select 1; " + std::string(20'000, ' ') + "; commit")))
      << "not all of it was looked at";

  const Stream bound = Stream().query("begin").parse("c", "commit").bind("p", "c").sync().query("listen a");
  EXPECT_TRUE(may_be_committed(bound, Stream().execute("p").sync())) << "bound before anybody looked";
  const Stream select = Stream().query("begin").query("listen a").parse("", "select 1").bind("p", "").sync();
  EXPECT_FALSE(may_be_committed(select, Stream().execute("p").sync()));

  EXPECT_TRUE(may_be_committed(Stream(), batch({"listen a", "select 1"}))) << "by its Sync";
  EXPECT_TRUE(may_be_committed(Stream().query("begin"), batch({"commit", "listen a", "select 1"})));
}

// Was: nothing was in flight, so what was notified behind a commit within a CALL was lost.
TEST(Pinning, OutsideOfABlockAnOpenBatchMayHaveCommittedAListen) {
  World world;
  world.a_gets(world.one, Stream().parse("", "listen a").bind("", "").execute().flush());
  world.a_gets(world.one, Stream().parse("", "call p()").bind("", "").execute().flush());
  EXPECT_TRUE(world.a.translator().commit_in_flight());
  world.a_gets(world.one, Stream().sync());
  EXPECT_FALSE(world.a.translator().commit_in_flight());
}

TEST(Pinning, NobodyIsAskedToListenForABlockThatHasFailed) {
  World world;
  Stream stream;
  stream.parse("b", "begin").parse("f", "select fail").parse("r", "rollback").parse("", "listen a");
  stream.bind("", "b").execute().sync().bind("", "f").execute().sync();
  world.a_gets(world.one, stream);
  EXPECT_TRUE(world.a_gets(world.one, Stream().bind("", "").execute().sync()).ends_with(" Z(E)"));
  EXPECT_EQ(world.a.take_begun(), Channels{});
  EXPECT_EQ(world.a_gets(world.one, Stream().bind("", "r").execute().bind("", "").execute().sync()),
            "2 C(ROLLBACK) 2 C(LISTEN) Z(I)");
  EXPECT_EQ(world.a.take_begun(), Channels{"a"}) << "its batch ends the block first";
}

// Was: only when nothing was in flight, so that a client that sends ahead had ever more of them.
TEST(Pinning, WhatWasListenedToIsSettledWithEachTransaction) {
  World world;
  world.a_gets(world.one, Stream().query("begin").query("listen a"));
  world.a.send(Stream().query("rollback").query("select 1").bytes());
  Bytes rolled_back;
  protocol::append_command_complete(rolled_back, "ROLLBACK");
  protocol::append_ready_for_query(rolled_back, 'I');
  world.a.receive(rolled_back.size());
  EXPECT_TRUE(world.a.translator().take_listens_over());
  while (world.a.receive(1 << 20)) {
  }
  EXPECT_FALSE(world.a.translator().take_listens_over());

  Stream many;
  for (int i = 0; i <= 1000; ++i)
    many.query("begin").query("listen a").query("rollback");
  EXPECT_EQ(world.a_gets(world.one, many).find("E54000"), std::string::npos);
}

// The Bind goes ahead of the LISTEN, which waits for the end of the transaction before it.
TEST(Pinning, AListenBoundBeforeTheLastTransactionWasOverIsSeenToBeRolledBack) {
  World world;
  Stream stream;
  stream.query("begin").query("listen a").query("commit").query("begin").query("savepoint s");
  stream.parse("", "listen b").bind("", "").parse("", "rollback to s").bind("back", "");
  stream.execute().execute("back").sync().query("commit");
  world.a_gets(world.one, stream);
  EXPECT_EQ(world.a.translator().take_listens(), (Listens{{SqlAction::Listen, "a"}}));
}

TEST(Pinning, SavepointsAreSeenInTheExtendedProtocolToo) {
  World world;
  Stream stream;
  stream.query("begin").parse("back", "rollback to s").sync();
  for (const char* const sql : {"listen a", "savepoint s", "listen b"})
    stream.parse("", sql).bind("", "").execute();
  stream.bind("", "back").execute().parse("", "commit").bind("", "").execute().sync();
  world.a_gets(world.one, stream);
  EXPECT_EQ(world.a.translator().take_listens(), (Listens{{SqlAction::Listen, "a"}}));
}

TEST(Pinning, UnlistenBehindAListenOfTheServersOwnIsNoListen) {
  World world;
  world.a_gets(world.one, Stream().query("listen a; unlisten b"));
  EXPECT_EQ(world.a.translator().take_listens(), (Listens{{SqlAction::Unlisten, "b"}}));
}

TEST(Pinning, MoreListensThanATransactionMayHaveAreRefused) {
  World world;
  world.a_gets(world.one, Stream().query("begin"));
  for (int i = 0; i < 1000; ++i)
    world.a_gets(world.one, Stream().query("listen a" + std::to_string(i)));
  EXPECT_TRUE(world.a_gets(world.one, Stream().query("listen more")).starts_with("E54000"));
  EXPECT_EQ(world.a_gets(world.one, Stream().query("commit")), "C(ROLLBACK) Z(I)");
  EXPECT_EQ(world.a.translator().take_listens(), Listens{});
  EXPECT_EQ(world.a_gets(world.one, Stream().query("listen a")), "C(LISTEN) Z(I)");
  EXPECT_EQ(world.a.translator().take_listens().size(), 1u);

  Stream batch;
  batch.parse("", "listen b");
  for (int i = 0; i <= 1000; ++i)
    batch.bind("", "").execute();
  const std::string answers = world.a_gets(world.one, batch.sync());
  EXPECT_NE(answers.find(" C(LISTEN) 2 E54000"), std::string::npos);
  EXPECT_TRUE(answers.ends_with(" Z(I)"));
  EXPECT_EQ(world.a.translator().take_listens(), Listens{});
}

TEST(Pinning, ListenAmongOtherStatementsPins) {
  World world;
  world.a_on(world.one, Stream().query("select 1; listen a"));
  EXPECT_EQ(world.a.translator().pins().first(), PinReason::Listen);
  EXPECT_EQ(world.a.hand_back(), HandBack::Pinned);
}

TEST(Pinning, LargeQueryOfSeveralStatementsPins) {
  TranslatorOptions options;
  options.statement_bytes_max = 100;
  World world(200, options);
  const std::string filler(2 * SessionTranslator::kHeadBytesMax, 'x');
  world.a_on(world.one, Stream().query("insert " + filler));
  EXPECT_FALSE(world.a.attached());
  const Stream several = Stream().query("insert " + filler + "; set work_mem = 1");
  world.a.run(several.bytes(), world.one, 1000);
  EXPECT_EQ(world.a.translator().pins().first(), PinReason::LargeQuery);
  const Stream block = Stream().query("do $$ " + filler + "$$");
  world.b.run(block.bytes(), world.two, 1000);
  EXPECT_EQ(world.b.translator().pins().first(), PinReason::LargeQuery);
}

TEST(Pinning, TargetOfWhatBeginsATransaction) {
  World world;
  const SessionTranslator& translator = world.a.translator();
  EXPECT_EQ(translator.target_of(Stream().query("begin read only").bytes()), Target::ReadOnly);
  EXPECT_EQ(translator.target_of(Stream().parse("", "select 1 /* sluice: target=primary */").bytes()),
            Target::Primary);
  EXPECT_EQ(translator.target_of(Stream().close('S', "x").query("begin read only").bytes()),
            Target::ReadOnly);
  EXPECT_EQ(translator.target_of(Stream().sync().bytes()), Target::Unsaid);
  world.a_on(world.one, Stream().parse("r", "select 1 /* sluice: target=replica */").sync());
  EXPECT_EQ(translator.target_of(Stream().bind("", "r").bytes()), Target::Replica);
  const Bytes bytes = Stream().query("begin read only").take();
  for (std::size_t cut = 0; cut < bytes.size(); ++cut)
    translator.target_of(ByteView(bytes).first(cut));
}

TEST(Pinning, TextOfWhatBeginsATransaction) {
  World world;
  const SessionTranslator& translator = world.a.translator();
  const auto text_of = [&](const Stream& stream) {
    const Bytes bytes = Stream(stream).take();
    const auto found = translator.first_sql(bytes);
    return found ? std::string(*found) : "(none)";
  };
  EXPECT_EQ(text_of(Stream().query("select 1").query("select 2")), "select 1");
  EXPECT_EQ(text_of(Stream().parse("x", "select 3").bind("", "x")), "select 3");
  EXPECT_EQ(text_of(Stream().close('S', "x").query("select 4")), "select 4");
  EXPECT_EQ(text_of(Stream().sync()), "(none)");
  EXPECT_EQ(text_of(Stream().bind("", "unknown")), "(none)");
  world.a_on(world.one, Stream().parse("r", "select 5").parse("", "select 6").sync());
  EXPECT_EQ(text_of(Stream().bind("", "r")), "select 5");
  EXPECT_EQ(text_of(Stream().bind("", "")), "select 6");
  const Bytes bytes = Stream().query("select 7").take();
  for (std::size_t cut = 0; cut < bytes.size(); ++cut)
    (void)translator.first_sql(ByteView(bytes).first(cut));
}

}  // namespace
}  // namespace sluice::pooling
