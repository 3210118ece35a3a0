// What pins a session, what is refused instead, and what the router's own listener takes over.
#include <string>

#include <gtest/gtest.h>

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
