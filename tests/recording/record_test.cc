#include <limits>

#include <gtest/gtest.h>

#include "tests/recording/records.h"

namespace sluice::recording {
namespace {

TEST(Varint, GivesBackWhatWasPutAndIsAsShortAsCanBe) {
  for (const std::uint64_t value :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{127}, std::uint64_t{128}, std::uint64_t{16'383},
        std::uint64_t{16'384}, ~std::uint64_t{0}}) {
    Bytes bytes;
    put_varint(bytes, value);
    VarintReader in(bytes);
    EXPECT_EQ(in.varint(), value);
    EXPECT_EQ(in.remaining(), 0U);
    for (std::size_t cut = 0; cut < bytes.size(); ++cut)
      EXPECT_FALSE(VarintReader(ByteView(bytes).first(cut)).varint()) << value << " cut at " << cut;
  }
  Bytes bytes;
  put_varint(bytes, 127);
  EXPECT_EQ(bytes.size(), 1U);
}

TEST(Varint, RefusesWhatIsTooLongOrNotTheShortest) {
  const auto read = [](std::initializer_list<int> values) {
    Bytes bytes;
    for (const int v : values)
      bytes.push_back(static_cast<std::byte>(v));
    return VarintReader(bytes).varint();
  };
  EXPECT_FALSE(read({0x80, 0x00}));
  EXPECT_FALSE(read({0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x02}));
  EXPECT_FALSE(read({0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01}));
  EXPECT_EQ(read({0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01}), ~std::uint64_t{0});
}

TEST(Zigzag, KeepsSmallNumbersOfEitherSignShort) {
  for (const std::int64_t value :
       {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1}, std::int64_t{-64},
        std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()}) {
    Bytes bytes;
    put_zigzag(bytes, value);
    EXPECT_EQ(VarintReader(bytes).zigzag(), value);
    if (value >= -64 && value <= 63) {
      EXPECT_EQ(bytes.size(), 1U);
    }
  }
}

TEST(Record, ComesBackAsItWas) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const std::vector<Record> records = some_records(20, seed);
    Bytes bytes;
    RecordEncoder encoder(bytes, Offset(77));
    for (const Record& record : records)
      encoder.put(record);
    RecordDecoder decoder(bytes, Offset(77));
    for (const Record& record : records)
      ASSERT_EQ(decoder.next(), record) << seed;
    EXPECT_TRUE(decoder.at_end());
    EXPECT_FALSE(decoder.next());
  }
}

TEST(Record, IsCompact) {
  Bytes bytes;
  RecordEncoder encoder(bytes, Offset(0));
  encoder.put(Admission{5'000'000, Offset(900), {}, true, 1, 3, 0, 2, 1, std::nullopt});
  encoder.put(Queries{5'000'000, {{microseconds(0), microseconds(850)}}});
  encoder.put(End{5'000'000, Offset(1'800)});
  EXPECT_LE(bytes.size(), 32U) << "a transaction of one query";
  bytes.clear();
  Whole whole{Offset(1'900), {}, true, 3, 2, std::nullopt, {{microseconds(0), microseconds(850)}}, {}};
  encoder.put(whole);
  EXPECT_LE(bytes.size(), 8U) << "the same in one record";
}

TEST(Record, IsCutToItsBounds) {
  Bytes bytes;
  RecordEncoder encoder(bytes, Offset(0));
  Admission a;
  a.at = kSpanMax + microseconds(1);
  a.waited = microseconds(-5);
  a.session_class = ~NameId{0};
  encoder.put(a);
  encoder.put(Name{NameKind::User, 1, std::string(1000, 'x')});
  encoder.put(Queries{1, std::vector<Query>(kQueriesMax + 1)});
  encoder.put(Who{~NameId{0}, ~NameId{0}, ~NameId{0}, std::nullopt, kNameIdMax});
  Whole whole;
  whole.at = Offset(-1);
  whole.waited = whole.tail = kSpanMax + microseconds(1);
  whole.who = ~NameId{0};
  whole.replica = ~NameId{0};
  whole.expected_size = microseconds::max();
  whole.queries.assign(kQueriesMax + 1, {microseconds::max(), microseconds::min()});
  encoder.put(whole);
  encoder.put(Configuration{Offset(0), std::string(kConfigurationBytesMax + 1, 'x')});
  RecordDecoder decoder(bytes, Offset(0));
  const auto first = std::get<Admission>(*decoder.next());
  EXPECT_EQ(first.at, Offset(kSpanMax));
  EXPECT_EQ(first.waited, microseconds(0));
  EXPECT_EQ(first.session_class, kNameIdMax);
  EXPECT_EQ(std::get<Name>(*decoder.next()).text.size(), kNameBytesMax);
  EXPECT_EQ(std::get<Queries>(*decoder.next()).queries.size(), kQueriesMax);
  EXPECT_EQ(decoder.next(), Record(Who{kNameIdMax, kNameIdMax, kNameIdMax, std::nullopt, kNameIdMax}));
  const std::vector<Query> longest(kQueriesMax, {kSpanMax, microseconds(0)});
  EXPECT_EQ(decoder.next(),
            Record(Whole{Offset(0), kSpanMax, false, kNameIdMax, kNameIdMax, kSpanMax, longest, kSpanMax}));
  EXPECT_TRUE(decoder.at_end()) << "a configuration beyond its bound is left out";
}

TEST(Record, AQueueOfAnotherOrderIsNone) {
  for (const auto order : {QueueOrder::Fcfs, QueueOrder::ShortestFirst}) {
    Bytes bytes;
    RecordEncoder encoder(bytes, Offset(0));
    encoder.put(Queue{Offset(0), order, microseconds(1)});
    EXPECT_EQ(RecordDecoder(bytes, Offset(0)).next(), Record(Queue{Offset(0), order, microseconds(1)}));
    bytes[2] = std::byte{2};
    EXPECT_FALSE(RecordDecoder(bytes, Offset(0)).next());
  }
}

TEST(Record, AWholeOneCutAnywhereIsNone) {
  Bytes bytes;
  RecordEncoder encoder(bytes, Offset(0));
  encoder.put(Whole{Offset(300),
                    microseconds(200),
                    true,
                    200,
                    200,
                    microseconds(0),
                    {{microseconds(0), microseconds(850)}, {microseconds(1), microseconds(20'000)}},
                    {}});
  for (std::size_t cut = 0; cut < bytes.size(); ++cut)
    EXPECT_FALSE(RecordDecoder(ByteView(bytes).first(cut), Offset(0)).next()) << cut;
  EXPECT_TRUE(RecordDecoder(bytes, Offset(0)).next());
}

// Whatever is read is within the bounds that a user of records may rely on; and reading ends.
TEST(Record, NoBytesGiveMoreThanTheBounds) {
  Rng rng(3);
  int whole = 0;
  for (int i = 0; i < 20'000; ++i) {
    Bytes bytes(rng.below(60));
    for (std::byte& b : bytes)
      b = static_cast<std::byte>(rng.below(rng.below(2) == 0 ? 9 : 256));
    RecordDecoder decoder(bytes, Offset(0));
    while (const auto record = decoder.next())
      if (const auto* a = std::get_if<Admission>(&*record)) {
        EXPECT_LE(a->at, Offset(kSpanMax));
        EXPECT_GE(a->at, Offset(0));
        EXPECT_LE(a->waited, kSpanMax);
        EXPECT_LE(a->session_class, kNameIdMax);
      } else if (const auto* w = std::get_if<Whole>(&*record)) {
        ++whole;
        EXPECT_LE(w->at, Offset(kSpanMax));
        EXPECT_GE(w->at, Offset(0));
        EXPECT_LE(w->waited, kSpanMax);
        EXPECT_LE(w->tail, kSpanMax);
        EXPECT_LE(w->who, kNameIdMax);
        EXPECT_LE(w->replica.value_or(0), kNameIdMax);
        EXPECT_LE(w->queries.size(), kQueriesMax);
      }
  }
  EXPECT_GT(whole, 100);
}

}  // namespace
}  // namespace sluice::recording
