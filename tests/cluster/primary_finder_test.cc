#include "cluster/primary_finder.h"

#include <gtest/gtest.h>

namespace sluice::cluster {
namespace {

class Finder : public testing::Test {
 protected:
  Finder() { (void)finder_.set_candidates({"a", "b", "c"}, 3); }
  void hears(const char* name, bool in_recovery) { (void)finder_.on_answer(name, in_recovery); }
  std::string primary() const { return finder_.status().primary.value_or(""); }
  std::string reason() const { return finder_.status().reason; }

  PrimaryFinder finder_;
};

TEST_F(Finder, KnowsNobodyBeforeAnybodyHasSpoken) {
  EXPECT_EQ(primary(), "");
  EXPECT_FALSE(reason().empty());
}

TEST_F(Finder, TakesTheOneThatIsOutOfRecovery) {
  hears("a", true);
  hears("c", true);
  EXPECT_EQ(primary(), "");
  EXPECT_TRUE(finder_.on_answer("b", false));
  EXPECT_EQ(primary(), "b");
  EXPECT_EQ(reason(), "");
  EXPECT_FALSE(finder_.on_answer("b", false)) << "no news";
}

TEST_F(Finder, TakesNobodyWhereTwoClaimIt) {
  hears("a", false);
  hears("b", false);
  EXPECT_EQ(primary(), "");
  EXPECT_EQ(reason(), "a and b both say that they are it");
  EXPECT_TRUE(finder_.status().split);
  hears("a", true);
  EXPECT_EQ(primary(), "b");
  EXPECT_FALSE(finder_.status().split);
}

TEST_F(Finder, FollowsAFailover) {
  hears("a", false);
  (void)finder_.on_silence("a");
  EXPECT_EQ(primary(), "a") << "one lost packet means nothing";
  hears("b", false);
  EXPECT_EQ(primary(), "b") << "and the old one has not been heard since";
  hears("a", true);
  EXPECT_EQ(primary(), "b");
}

TEST_F(Finder, DropsOneThatSaysItIsAStandbyAtOnce) {
  hears("a", false);
  hears("a", true);
  EXPECT_EQ(primary(), "");
}

TEST_F(Finder, DropsASilentOneAfterSomeProbes) {
  hears("a", false);
  (void)finder_.on_silence("a");
  (void)finder_.on_silence("a");
  EXPECT_EQ(primary(), "a");
  EXPECT_TRUE(finder_.on_silence("a"));
  EXPECT_EQ(primary(), "");
  hears("a", false);
  EXPECT_EQ(primary(), "a");
}

TEST_F(Finder, TakesNobodyThatDidNotSayIt) {
  (void)finder_.on_answer("a", std::nullopt);
  EXPECT_EQ(primary(), "");
}

TEST_F(Finder, IgnoresStrangers) {
  EXPECT_FALSE(finder_.on_answer("x", false));
  EXPECT_FALSE(finder_.on_silence("x"));
  EXPECT_EQ(primary(), "");
}

TEST_F(Finder, ForgetsOneThatIsNoCandidateAnyMore) {
  hears("a", false);
  EXPECT_TRUE(finder_.set_candidates({"b", "c"}, 3));
  EXPECT_EQ(primary(), "");
  (void)finder_.set_candidates({"a", "b"}, 3);
  EXPECT_EQ(primary(), "") << "it has to say it again";
}

TEST_F(Finder, BelievesTheNomineeAloneAndOnlyWhenItSaysItToo) {
  hears("a", false);
  (void)finder_.nominate("b", "");
  EXPECT_EQ(primary(), "") << "a is not it any more, b not yet";
  EXPECT_EQ(reason(), "Patroni's leader b does not answer");
  hears("b", true);
  EXPECT_EQ(reason(), "Patroni's leader b is still in recovery");
  hears("b", false);
  EXPECT_EQ(primary(), "b");
  hears("a", false);
  EXPECT_EQ(primary(), "b") << "who is no nominee may say what it likes";
  (void)finder_.nominate(std::nullopt, "Patroni names no leader");
  EXPECT_EQ(primary(), "");
  EXPECT_EQ(reason(), "Patroni names no leader");
}

TEST_F(Finder, KeepsASilentNomineeForAWhile) {
  (void)finder_.nominate("a", "");
  hears("a", false);
  (void)finder_.on_silence("a");
  (void)finder_.nominate("a", "");
  EXPECT_EQ(primary(), "a");
  (void)finder_.on_silence("a");
  (void)finder_.on_silence("a");
  EXPECT_EQ(primary(), "");
}

// Without a role to log in as, an answer is all there is to be had.
TEST_F(Finder, TakesANomineeThatAnswersWhereProbesDoNotLogIn) {
  (void)finder_.nominate("a", "");
  (void)finder_.on_answer("b", std::nullopt);
  EXPECT_EQ(primary(), "");
  (void)finder_.on_answer("a", std::nullopt);
  EXPECT_EQ(primary(), "a");
}

// Whatever is heard in whatever order: a primary has said so itself, last, and nobody else has.
TEST_F(Finder, NeverGuesses) {
  std::uint32_t state = 1;
  const auto random = [&](std::uint32_t below) {
    state = state * 1664525u + 1013904223u;
    return (state >> 16) % below;
  };
  const char* const names[] = {"a", "b", "c"};
  enum class Said { Nothing, Primary, Standby };
  Said last_word[3] = {};
  bool silent[3] = {};
  for (int step = 0; step < 20'000; ++step) {
    const std::uint32_t who = random(3);
    const std::uint32_t what = random(3);
    if (what == 2) {
      silent[who] = true;
      (void)finder_.on_silence(names[who]);
    } else {
      silent[who] = false;
      last_word[who] = what == 0 ? Said::Primary : Said::Standby;
      hears(names[who], what == 1);
    }
    int claims = 0;
    for (int i = 0; i < 3; ++i)
      claims += !silent[i] && last_word[i] == Said::Primary ? 1 : 0;
    if (primary().empty()) {
      ASSERT_NE(claims, 1) << step;
      continue;
    }
    const int chosen = primary()[0] - 'a';
    ASSERT_EQ(last_word[chosen], Said::Primary) << step;
    ASSERT_LE(claims, 1) << step;
    if (claims == 1) {
      ASSERT_FALSE(silent[chosen]) << step;
    }
  }
}

}  // namespace
}  // namespace sluice::cluster
