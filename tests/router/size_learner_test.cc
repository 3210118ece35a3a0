#include "router/size_learner.h"

#include <string>

#include <gtest/gtest.h>

namespace sluice::router {
namespace {

using namespace std::chrono_literals;

const std::string kUser = "alice", kDatabase = "app", kShop = "shop", kBatch = "batch";

struct LearnerWorld {
  LearnerWorld() {
    book.set_entries_max(1000);
    learner.set_active(true);
  }
  void work(SizeWatch& watch, std::optional<std::string_view> sql, std::chrono::nanoseconds service,
            int times) {
    for (int i = 0; i < times; ++i) {
      (void)watch.begin(sql);
      watch.end(service);
    }
  }

  SizeBook book;
  SizeLearner learner{book};
};

TEST(SizeLearner, ExpectsOfAStatementWhatTheLikeOfItTook) {
  LearnerWorld world;
  SizeWatch watch(world.learner, kUser, kDatabase, kShop);
  world.work(watch, "select f(1)", 20ms, 10);
  world.work(watch, "select g(1)", 3ms, 10);
  EXPECT_FALSE(watch.begin("select f(2)")) << "not exchanged yet";
  world.learner.hand_over();
  ASSERT_TRUE(watch.begin("select f(2)"));
  EXPECT_DOUBLE_EQ(*watch.begin("select f(3)"), 0.02);
  EXPECT_DOUBLE_EQ(*watch.begin("SELECT g(3)"), 0.003);
  EXPECT_FALSE(watch.begin("select h(3)"));
  SizeWatch other(world.learner, kUser, kDatabase, kBatch);
  EXPECT_FALSE(other.begin("select f(1)")) << "another application";
}

TEST(SizeLearner, GoesByTheRouteWhereAStatementNamesOne) {
  LearnerWorld world;
  SizeWatch shop(world.learner, kUser, kDatabase, kShop), other(world.learner, kUser, kDatabase, kBatch);
  world.work(shop, "select 1 /*route='/feed'*/", 5ms, 10);
  world.learner.hand_over();
  EXPECT_TRUE(other.begin("select 1 /*route='/feed'*/"));
  EXPECT_FALSE(other.begin("select 1 /*route='/cart'*/"));
  EXPECT_FALSE(other.begin("select 1"));
  EXPECT_EQ(world.book.rows()[0].owner.kind, sizes::Owner::Kind::Route);
  EXPECT_EQ(world.book.rows()[0].owner.label, "/feed");
}

TEST(SizeLearner, KnowsWholeSessionsByTheirOwner) {
  LearnerWorld world;
  SizeWatch watch(world.learner, kUser, kDatabase, kShop);
  world.work(watch, std::nullopt, 2s, 6);
  world.learner.hand_over();
  EXPECT_DOUBLE_EQ(*watch.begin(std::nullopt), 2);
  EXPECT_EQ(world.book.rows()[0].statement, 0U);
  EXPECT_EQ(world.book.rows()[0].outline, "");
}

TEST(SizeLearner, TellsAnEmptyStatementFromAWholeSession) {
  LearnerWorld world;
  SizeWatch watch(world.learner, kUser, kDatabase, kShop);
  world.work(watch, std::nullopt, 2s, 6);
  world.work(watch, "-- nothing", 1ms, 6);
  world.learner.hand_over();
  EXPECT_EQ(world.book.rows().size(), 2U);
  EXPECT_DOUBLE_EQ(*watch.begin(std::nullopt), 2);
  EXPECT_DOUBLE_EQ(*watch.begin(""), 0.001);
}

TEST(SizeLearner, LearnsNothingOfWorkThatTookNoTime) {
  LearnerWorld world;
  SizeWatch watch(world.learner, kUser, kDatabase, kShop);
  world.work(watch, std::nullopt, 0s, 10);
  world.learner.hand_over();
  EXPECT_FALSE(watch.begin(std::nullopt)) << "a session that asked nothing tells nothing";
}

TEST(SizeLearner, ReadsABackslashAsItIsTold) {
  LearnerWorld world;
  SizeWatch watch(world.learner, kUser, kDatabase, kShop);
  (void)watch.begin("select 'it\\' secret'", true);
  watch.end(1ms);
  world.learner.hand_over();
  EXPECT_EQ(world.book.rows()[0].outline, "select ?");
}

TEST(SizeLearner, HasKeysThatNobodyCanForesee) {
  SizeBook one, other;
  EXPECT_NE(one.secret(), other.secret());
}

TEST(SizeLearner, TakesASessionAtItsWordAndLearnsAllTheSame) {
  LearnerWorld world;
  SizeWatch watch(world.learner, kUser, kDatabase, kShop);
  watch.give(0.5);
  world.work(watch, "select 1", 1ms, 10);
  EXPECT_EQ(watch.begin("select 1"), 0.5);
  world.learner.hand_over();
  EXPECT_EQ(watch.begin("select 1"), 0.5);
  EXPECT_EQ(world.book.rows()[0].size.count(), 10U);
  world.learner.set_active(false);
  EXPECT_EQ(watch.begin("select 1"), 0.5);
}

TEST(SizeLearner, LearnsFromOtherThreads) {
  LearnerWorld world;
  SizeLearner other(world.book);
  other.set_active(true);
  SizeWatch there(other, kUser, kDatabase, kShop), here(world.learner, kUser, kDatabase, kShop);
  world.work(there, "select f(1)", 20ms, 10);
  other.hand_over();
  world.learner.hand_over();
  EXPECT_TRUE(here.begin("select f(1)"));
}

TEST(SizeLearner, LearnsNothingOfWorkThatDoesNotEnd) {
  LearnerWorld world;
  SizeWatch watch(world.learner, kUser, kDatabase, kShop);
  (void)watch.begin("select a");
  world.work(watch, "select b", 1ms, 1);
  watch.end(1ms);
  world.learner.hand_over();
  for (const sizes::SizeRow& row : world.book.rows())
    EXPECT_EQ(row.size.count(), row.outline == "select b" ? 1U : 0U) << row.outline;
}

TEST(SizeLearner, DoesNothingWhereSizesAreOfNoUse) {
  LearnerWorld world;
  world.learner.set_active(false);
  SizeWatch watch(world.learner, kUser, kDatabase, kShop);
  world.work(watch, "select 1", 1ms, 10);
  world.learner.hand_over();
  EXPECT_TRUE(world.book.rows().empty());
}

TEST(SizeLearner, ExchangesByItselfWhatIsMuch) {
  LearnerWorld world;
  SizeWatch watch(world.learner, kUser, kDatabase, kShop);
  world.work(watch, "select 1", 1ms, 5000);
  EXPECT_GE(world.book.rows()[0].size.count(), 4000U);
}

TEST(ParseSize, TakesSecondsAndUnits) {
  EXPECT_EQ(parse_size("0.25"), 0.25);
  EXPECT_EQ(parse_size("3s"), 3);
  EXPECT_EQ(parse_size("250ms"), 0.25);
  EXPECT_DOUBLE_EQ(*parse_size("1e3us"), 1e-3);
  for (const char* nonsense : {"", "ms", "-1", "0", "1h", "1 s", "inf", "nan", "1e300", "1e7", "x1"})
    EXPECT_FALSE(parse_size(nonsense)) << nonsense;
}

}  // namespace
}  // namespace sluice::router
