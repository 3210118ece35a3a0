#include "telemetry/log.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "telemetry/line_limiter.h"

namespace sluice::log {
namespace {

using namespace std::chrono_literals;

std::string text(std::string_view value) {
  const std::vector<Field> fields = {{"v", value}};
  return format_fields(Format::KeyValue, "e", fields).substr(std::string("event=e v=").size());
}
std::string json(std::string_view value) {
  const std::vector<Field> fields = {{"v", value}};
  return format_fields(Format::Json, "e", fields).substr(std::string("\"event\":\"e\",\"v\":").size());
}

TEST(LogFormat, WritesEveryTypeOfValue) {
  const std::vector<Field> fields = {
      {"session", std::uint64_t{7}}, {"delta", -3}, {"ok", true}, {"time", 1500ms}, {"class", "gold"}};
  EXPECT_EQ(format_fields(Format::KeyValue, "session opened", fields),
            "event=\"session opened\" session=7 delta=-3 ok=true time=1.5 class=gold");
  EXPECT_EQ(format_fields(Format::Json, "session opened", fields),
            R"("event":"session opened","session":7,"delta":-3,"ok":true,"time":1.5,"class":"gold")");
}

TEST(LogFormat, KeepsHostileValuesOnOneLineAndInsideTheirQuotes) {
  EXPECT_EQ(text("a\nlevel=error b"), R"("a\nlevel=error b")");
  EXPECT_EQ(text("a\" admin=\"1"), R"("a\" admin=\"1")");
  EXPECT_EQ(text("back\\slash"), R"("back\\slash")");
  EXPECT_EQ(text(std::string_view("\x1b[2J\0x", 6)), R"("\x1b[2J\x00x")");
  EXPECT_EQ(text("\xc2\x9b"), R"("\u009b")");              // C1: a terminal takes it for ESC [
  EXPECT_EQ(text("\xe2\x80\xae gnp"), R"("\u202e gnp")");  // turns the direction of text
  EXPECT_EQ(text("\xe2\x80\xa8"), R"("\u2028")");
  EXPECT_EQ(text(""), R"("")");
  EXPECT_EQ(json("a\n\"\x01"), R"("a\n\"\u0001")");
}

TEST(LogFormat, ShowsBytesThatAreNoUtf8) {
  EXPECT_EQ(text("\xff\xc3"), R"("\xff\xc3")");
  EXPECT_EQ(text("\xc0\xaf"), R"("\xc0\xaf")");          // overlong
  EXPECT_EQ(text("\xed\xa0\x80"), R"("\xed\xa0\x80")");  // surrogate
  EXPECT_EQ(json("\xff"), R"("\ufffd")");
  EXPECT_EQ(text("gr\xc3\xbc\xc3\x9f"), "\"gr\xc3\xbc\xc3\x9f\"");
}

TEST(LogFormat, CutsLongValuesAndLongLines) {
  const std::string cut = text(std::string(10'000, 'x'));
  EXPECT_EQ(cut.size(), kValueBytesMax + 5);
  EXPECT_TRUE(cut.ends_with("...\""));
  const std::string value(400, 'y');
  const std::vector<Field> fields(100, Field("key", value));
  const std::string line = format_fields(Format::KeyValue, "e", fields);
  EXPECT_LE(line.size(), kLineBytesMax + 32);
  EXPECT_NE(line.find(" fields_omitted="), std::string::npos);
}

TEST(LineLimiter, LetsABurstThroughAndThenOnePerInterval) {
  LineLimiter limiter;
  const LineLimiter::TimePoint start{};
  for (int i = 0; i < LineLimiter::kBurst; ++i)
    EXPECT_EQ(limiter.admit("server down", start), 0U);
  EXPECT_FALSE(limiter.admit("server down", start).has_value());
  EXPECT_FALSE(limiter.admit("server down", start).has_value());
  EXPECT_EQ(limiter.admit("other", start), 0U);
  EXPECT_EQ(limiter.admit("server down", start + LineLimiter::kRefill), 2U);
  EXPECT_FALSE(limiter.admit("server down", start + LineLimiter::kRefill).has_value());
  EXPECT_EQ(limiter.suppressed(), 3U);
}

TEST(LineLimiter, SettlesAnEventThatIsOverOnceAndCountsWhatWasLeftOut) {
  LineLimiter limiter;
  const LineLimiter::TimePoint start{};
  for (int i = 0; i < LineLimiter::kBurst + 7; ++i)
    (void)limiter.admit("server down", start);
  (void)limiter.admit("quiet", start);
  EXPECT_TRUE(limiter.settle(start + LineLimiter::kSilence - LineLimiter::kRefill).empty());
  using Settled = std::vector<std::pair<std::string, std::uint64_t>>;
  EXPECT_EQ(limiter.settle(start + LineLimiter::kSilence), (Settled{{"server down", 7}}));
  EXPECT_TRUE(limiter.settle(start + 2 * LineLimiter::kSilence).empty());
  EXPECT_EQ(limiter.admit("server down", start + 2 * LineLimiter::kSilence), 0U) << "they were told already";
}

TEST(LineLimiter, RemembersABoundedNumberOfEvents) {
  LineLimiter limiter;
  const LineLimiter::TimePoint start{};
  for (std::size_t i = 0; i < LineLimiter::kEventsMax; ++i)
    EXPECT_TRUE(limiter.admit("event " + std::to_string(i), start).has_value());
  int admitted = 0;
  for (int i = 0; i < 100; ++i)
    admitted += limiter.admit("new " + std::to_string(i), start).has_value() ? 1 : 0;
  EXPECT_EQ(admitted, LineLimiter::kBurst);
}

class LogFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "/sluice-log-XXXXXX";
    directory_ = ::mkdtemp(pattern.data());
    path_ = directory_ + "/sluice.log";
  }
  void TearDown() override {
    EXPECT_TRUE(configure({}).has_value());
    std::filesystem::remove_all(directory_);
  }
  static std::string read(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::string directory_, path_;
};

TEST_F(LogFile, HoldsOneLinePerEventAboveTheLevel) {
  ASSERT_TRUE(configure({Level::Info, Format::KeyValue, path_}).has_value());
  debug("hidden");
  info("session opened", {{"session", 1}, {"user", "a\nb"}});
  const std::string lines = read(path_);
  EXPECT_NE(lines.find(R"(level=info event="session opened" session=1 user="a\nb")"), std::string::npos)
      << lines;
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 1);
  EXPECT_EQ(lines.find("time=20"), 0U);
}

TEST_F(LogFile, HoldsABurstOfWhatStrangersCauseAndOfInfoAll) {
  ASSERT_TRUE(configure({Level::Info, Format::KeyValue, path_}).has_value());
  for (int i = 0; i < 3 * LineLimiter::kBurst; ++i) {
    info_limited("login refused here");
    info("session opened");
  }
  const std::string lines = read(path_);
  const auto count = [&](const std::string& text) {
    std::ptrdiff_t found = 0;
    for (std::size_t at = lines.find(text); at != lines.npos; at = lines.find(text, at + 1))
      ++found;
    return found;
  };
  EXPECT_EQ(count("session opened"), 3 * LineLimiter::kBurst);
  EXPECT_GE(count("login refused here"), LineLimiter::kBurst);
  EXPECT_LT(count("login refused here"), 2 * LineLimiter::kBurst);
  EXPECT_GT(suppressed_lines(), 0U);
}

TEST_F(LogFile, IsOpenedAnewAfterRotation) {
  ASSERT_TRUE(configure({Level::Info, Format::Json, path_}).has_value());
  info("first");
  std::filesystem::rename(path_, path_ + ".1");
  info("second");
  ASSERT_TRUE(reopen().has_value());
  info("third");
  const std::string before = read(path_ + ".1"), after = read(path_);
  EXPECT_NE(before.find("\"second\"}\n"), std::string::npos) << before;
  EXPECT_EQ(after.find("second"), std::string::npos);
  EXPECT_NE(after.find("\"event\":\"third\"}\n"), std::string::npos) << after;
}

TEST_F(LogFile, StaysWhenTheNewOneCannotBeOpened) {
  ASSERT_TRUE(configure({Level::Info, Format::KeyValue, path_}).has_value());
  EXPECT_FALSE(configure({Level::Info, Format::KeyValue, "/proc/no/such/file"}).has_value());
  info("still here");
  EXPECT_NE(read(path_).find("still here"), std::string::npos);
}

}  // namespace
}  // namespace sluice::log
