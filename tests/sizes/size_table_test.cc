#include "sizes/size_table.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

namespace sluice::sizes {
namespace {

using namespace std::chrono_literals;

constexpr Secret kSecret = {0x0706050403020100, 0x0F0E0D0C0B0A0908};

Key key_of(int i) {
  return work_key(kSecret, owner_key(kSecret, {"u", "d", Owner::Kind::Application, "a"}),
                  static_cast<std::uint64_t>(i));
}

Batch batch_of(int first, int count, double seconds, int times = 1) {
  Batch batch;
  for (int i = first; i < first + count; ++i) {
    Introduction& known = batch.introductions.emplace_back();
    known.key = key_of(i);
    known.owner = {"u", "d", Owner::Kind::Application, "a"};
    known.statement = static_cast<std::uint64_t>(i);
    for (int t = 0; t < times; ++t)
      batch.samples.push_back({known.key, seconds});
  }
  return batch;
}

TEST(SizeKeys, TellOwnersAndStatementsApart) {
  std::set<Key> keys;
  for (const char* user : {"a", "ab", "longer than eight bytes"})
    for (const char* database : {"", "b", "ab"})
      for (const auto kind : {Owner::Kind::Application, Owner::Kind::Route})
        for (const char* label : {"", "x", "xx"})
          for (std::uint64_t statement = 0; statement < 3; ++statement)
            keys.insert(work_key(kSecret, owner_key(kSecret, {user, database, kind, label}), statement));
  EXPECT_EQ(keys.size(), 3U * 3 * 2 * 3 * 3);
}

TEST(SizeKeys, AreOthersWithAnotherSecret) {
  const OwnerView owner{"u", "d", Owner::Kind::Application, "a"};
  const Key key = owner_key(kSecret, owner);
  EXPECT_EQ(owner_key(kSecret, owner), key);
  EXPECT_NE(owner_key({kSecret[0] + 1, kSecret[1]}, owner), key);
  EXPECT_NE(owner_key({kSecret[0], kSecret[1] + 1}, owner), key);
  EXPECT_NE(work_key({kSecret[0] + 1, kSecret[1]}, key, 1), work_key(kSecret, key, 1));
}

// Of a user's kinds, with a sample each or without.
Batch kinds_of(const std::string& user, int first, int count, bool with_samples) {
  Batch batch;
  for (int i = first; i < first + count; ++i) {
    Introduction& known = batch.introductions.emplace_back();
    known.owner = {user, "d", Owner::Kind::Application, std::to_string(i)};
    known.key = owner_key(kSecret, {user, "d", Owner::Kind::Application, known.owner.label});
    if (with_samples) batch.samples.push_back({known.key, 1});
  }
  return batch;
}

int rows_of(const SizeTable& table, const std::string& user) {
  int count = 0;
  for (const SizeRow& row : table.rows())
    count += row.owner.user == user ? 1 : 0;
  return count;
}

TEST(SizeTable, LetsNobodyPushOutAllOthers) {
  for (const bool with_samples : {false, true}) {
    SizeTable table(80);
    table.add(kinds_of("one", 0, 35, true), 1s);
    table.add(kinds_of("two", 0, 45, true), 2s);
    for (int i = 0; i < 30; ++i)
      table.add(kinds_of("many", 100 * i, 100, with_samples), 3s);
    EXPECT_EQ(table.size(), 80U);
    EXPECT_LE(rows_of(table, "many"), 31) << "a quarter and an eighth";
    EXPECT_GE(rows_of(table, "one"), with_samples ? 4 : 24);
    EXPECT_EQ(rows_of(table, "two"), 45) << "used later";
  }
}

TEST(SizeTable, GivesItsOwnPlaceToWhoHasMuch) {
  SizeTable table(80);
  table.add(kinds_of("few", 0, 4, true), 1s);
  for (int i = 0; i < 50; ++i)
    table.add(batch_of(i * 20, 20, 1), 2s);
  EXPECT_EQ(rows_of(table, "few"), 4) << "the longest unused of all";
  EXPECT_EQ(rows_of(table, "u"), 76);
  EXPECT_EQ(table.rows()[0].statement, 999U);
  table.set_entries_max(2);
  EXPECT_EQ(table.size(), 2U);
  EXPECT_EQ(rows_of(table, "u"), 2);
}

TEST(SizeTable, ExpectsTheMeanOfWhatWasSeenOftenEnough) {
  SizeTable table(100);
  table.add(batch_of(1, 1, 0.5, 2), 1s);
  auto expected = table.expectations(1s, 0s);
  EXPECT_TRUE(expected->contains(key_of(1)));
  EXPECT_FALSE(expected->expected(key_of(1)));
  EXPECT_FALSE(expected->contains(key_of(2)));
  table.add(batch_of(1, 1, 0.5, 10), 2s);
  EXPECT_EQ(table.expectations(2s, 2s), expected) << "fresh enough";
  expected = table.expectations(2s, 1s);
  ASSERT_TRUE(expected->expected(key_of(1)));
  EXPECT_DOUBLE_EQ(*expected->expected(key_of(1)), 0.5);
  ASSERT_EQ(table.rows().size(), 1U);
  EXPECT_EQ(table.rows()[0].last_seen, 2s);
  EXPECT_EQ(table.rows()[0].size.count(), 12U);
}

TEST(SizeTable, ForgetsTheLongestUnused) {
  SizeTable table(3);
  table.add(batch_of(1, 3, 1), 1s);
  table.add(batch_of(1, 1, 1), 2s);
  table.add(batch_of(4, 1, 1), 3s);
  EXPECT_EQ(table.size(), 3U);
  EXPECT_EQ(table.forgotten(), 1U);
  const auto expected = table.expectations(3s, 0s);
  EXPECT_TRUE(expected->contains(key_of(1)));
  EXPECT_FALSE(expected->contains(key_of(2))) << "the longest unused";
  EXPECT_TRUE(expected->contains(key_of(4)));
  EXPECT_EQ(table.rows()[0].statement, 4U);
  table.set_entries_max(1);
  EXPECT_EQ(table.size(), 1U);
  table.set_entries_max(0);
  table.add(batch_of(1, 3, 1), 4s);
  EXPECT_EQ(table.size(), 0U);
}

TEST(SizeTable, CountsNothingThatWasNotIntroduced) {
  SizeTable table(10);
  Batch batch = batch_of(1, 1, 1);
  batch.samples.push_back({key_of(2), 1});
  table.add(batch, 1s);
  EXPECT_EQ(table.size(), 1U);
}

TEST(SizeTable, CutsLongTexts) {
  SizeTable table(10);
  Batch batch = batch_of(1, 1, 1);
  batch.introductions[0].outline = batch.introductions[0].owner.label = std::string(10'000, 'x');
  table.add(batch, 1s);
  EXPECT_EQ(table.rows()[0].outline.size(), SizeTable::kTextBytesMax);
  EXPECT_EQ(table.rows()[0].owner.label.size(), SizeTable::kTextBytesMax);
}

TEST(Expectations, FindWhatTheyHoldAndNothingElse) {
  std::vector<Sample> all;
  for (int i = 0; i < 1000; ++i)
    all.push_back({key_of(i), i % 3 == 0 ? -1.0 : i * 0.5});
  const Expectations expected(all);
  EXPECT_EQ(expected.size(), 1000U);
  for (int i = 0; i < 2000; ++i) {
    EXPECT_EQ(expected.contains(key_of(i)), i < 1000) << i;
    EXPECT_EQ(expected.expected(key_of(i)).has_value(), i < 1000 && i % 3 != 0) << i;
  }
  EXPECT_FALSE(Expectations().contains(1));
}

}  // namespace
}  // namespace sluice::sizes
