#include "bench/query_stream.h"

#include <cmath>
#include <map>

#include <gtest/gtest.h>

namespace sluice::bench {
namespace {

std::vector<QueryShape> shapes() {
  std::vector<QueryShape> out(4);
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i].name = std::string(1, static_cast<char>('a' + i));
  return out;
}

TEST(Think, IsReadAndWritten) {
  EXPECT_EQ(Think::parse("0.5")->mean, 0.5);
  EXPECT_EQ(Think::parse("0.5")->law, Think::Law::Exponential);
  EXPECT_EQ(Think::parse("fixed:2")->law, Think::Law::Fixed);
  EXPECT_EQ(Think::parse("fixed:2")->text(), "fixed:2");
  EXPECT_EQ(Think::parse("0")->text(), "0");
  for (const char* text : {"", "-1", "x", "1s", "fixed:", "nan", "inf", "1e7"})
    EXPECT_FALSE(Think::parse(text)) << text;
}

TEST(QueryStream, AsksTheSameWithTheSameSeedWhateverThePauses) {
  const auto all = shapes();
  QueryStream a(all, *Think::parse("0"), 9), b(all, *Think::parse("3"), 9),
      c(all, *Think::parse("fixed:3"), 9);
  for (int i = 0; i < 100; ++i) {
    const auto first = a.next(), second = b.next(), third = c.next();
    EXPECT_EQ(first.shape, second.shape);
    EXPECT_EQ(first.shape, third.shape);
    EXPECT_EQ(first.pause, 0);
    EXPECT_EQ(third.pause, 3);
  }
}

// False alarm: 5 standard deviations; the seed is fixed.
TEST(QueryStream, PicksUniformlyAndPausesByTheMean) {
  constexpr double kAlarm = 5;
  const auto all = shapes();
  QueryStream stream(all, *Think::parse("2"), 1);
  std::map<std::string, double> counts;
  const double n = 20'000;
  double sum = 0;
  for (int i = 0; i < static_cast<int>(n); ++i) {
    const auto next = stream.next();
    ++counts[next.shape->name];
    sum += next.pause;
  }
  for (const auto& [name, count] : counts)
    EXPECT_NEAR(count / n, 0.25, kAlarm * std::sqrt(0.25 * 0.75 / n)) << name;
  EXPECT_NEAR(sum / n, 2, kAlarm * 2 / std::sqrt(n));
}

}  // namespace
}  // namespace sluice::bench
