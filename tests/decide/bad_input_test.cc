#include <gtest/gtest.h>

#include "tests/decide/drive.h"

namespace sluice::decide {
namespace {

// The error of one bad line after a good configuration, without its "line 2: ".
std::string error_of(const std::string& line) {
  const Driven d = drive({kFiveReplicas, line, R"({"op":"up","replica":"r0"})"});
  EXPECT_EQ(d.result, RunResult::BadLine) << line.substr(0, 200);
  EXPECT_TRUE(d.lines.empty()) << "a state line after a bad line";
  EXPECT_EQ(d.error.rfind("line 2: ", 0), 0u) << d.error;
  EXPECT_EQ(d.error.find('\n'), d.error.size() - 1) << "not one line";
  return d.error.substr(8, d.error.size() - 9);
}

std::string config_with(const std::string& classes, const std::string& replicas,
                        const std::string& more = "") {
  return R"({"op":"config","policy":"plb","classes":[)" + classes + R"(],"replicas":[)" + replicas + "]" +
         more + "}";
}

std::string class_with(const std::string& saturation, const std::string& ratio, const std::string& floor) {
  return R"({"name":"a","saturation":)" + saturation + R"(,"return_ratio":)" + ratio + R"(,"floor":)" +
         floor + R"(,"target":1})";
}

TEST(DecideBadInput, NeedsAConfigurationFirst) {
  const Driven d = drive({R"({"op":"open","id":"s","class":"premium"})"});
  EXPECT_EQ(d.error,
            "line 1: there is no configuration yet: a config event must come first, or -c FILE be given\n");
}

TEST(DecideBadInput, NamesWhatIsWrongWithAnEvent) {
  EXPECT_EQ(error_of("nonsense"), "not valid JSON at byte 2");
  EXPECT_EQ(error_of("[]"), "must be a JSON object");
  EXPECT_EQ(error_of("{}"), "'op' is missing");
  EXPECT_EQ(error_of(R"({"op":7})"), "'op' must be a string that is not empty");
  EXPECT_EQ(error_of(R"({"op":"opne"})"),
            "unknown op \"opne\"; known are config, set, open, close, down, up, drain, undrain");
  EXPECT_EQ(error_of(R"({"op":"down"})"), "'replica' is missing");
  EXPECT_EQ(error_of(R"({"op":"down","replica":"r9"})"), "unknown replica \"r9\"");
  EXPECT_EQ(error_of(R"({"op":"open","class":"premium"})"), "'id' is missing");
  EXPECT_EQ(error_of(R"({"op":"open","id":"","class":"premium"})"),
            "'id' must be a string that is not empty");
  EXPECT_EQ(error_of(R"({"op":"open","id":"s","class":"gold"})"), "unknown class \"gold\"");
  EXPECT_EQ(error_of(R"({"op":"open","id":"s","class":"premium","hots":"a"})"), "unknown field \"hots\"");
  EXPECT_EQ(error_of(R"({"op":"open","id":"s","class":"premium","host":1})"), "'host' must be a string");
  EXPECT_EQ(error_of(R"({"op":"open","id":"s","class":"premium","size":-1})"),
            "'size' must be a number that is not negative");
}

TEST(DecideBadInput, NamesWhatIsWrongWithASet) {
  EXPECT_EQ(error_of(R"({"op":"set","replica":"r0","pool":"gold"})"),
            "pool \"gold\" is neither a class nor mixed");
  EXPECT_EQ(error_of(R"({"op":"set","replica":"r0","pool":"mixed","borrowed":true})"),
            "a replica of the mixed pool cannot be borrowed");
  EXPECT_EQ(error_of(R"({"op":"set","replica":"r0","pool":"mixed","borrowed":"yes"})"),
            "'borrowed' must be true or false");
  EXPECT_EQ(error_of(R"({"op":"set","replica":"r0","pool":"mixed","loads":{"gold":1}})"),
            "unknown class \"gold\"");
  for (const char* load :
       {"-1", "1.5", "\"1\"", "1000000001", "99999999999999999999", "18446744073709551615", "null"})
    EXPECT_EQ(error_of(R"({"op":"set","replica":"r0","pool":"mixed","loads":{"premium":)" +
                       std::string(load) + "}}"),
              "loads: \"premium\" must be a whole number in 0..1000000000");
}

TEST(DecideBadInput, NamesWhatIsWrongWithAClose) {
  EXPECT_EQ(error_of(R"({"op":"close"})"), "close needs 'id', or 'class' and 'replica'");
  EXPECT_EQ(error_of(R"({"op":"close","id":"s","class":"premium"})"),
            "close takes 'id', or 'class' and 'replica'");
  EXPECT_EQ(error_of(R"({"op":"close","class":"premium"})"), "'replica' is missing");
  EXPECT_EQ(error_of(R"({"op":"close","id":"s"})"), "no open session \"s\"");
  EXPECT_EQ(error_of(R"({"op":"close","class":"premium","replica":"r0"})"),
            "replica \"r0\" has no session of class \"premium\" to close");
}

TEST(DecideBadInput, RefusesAnIdThatIsOpenAndASetAfterAnOpen) {
  const std::string open = R"({"op":"open","id":"s","class":"premium"})";
  const std::string set = R"({"op":"set","replica":"r0","pool":"mixed"})";
  EXPECT_EQ(drive({kFiveReplicas, open, open}).error, "line 3: session \"s\" is already open\n");
  EXPECT_EQ(drive({kFiveReplicas, open, open}).lines.size(), 1u);
  EXPECT_EQ(drive({kFiveReplicas, open, set}).error, "line 3: set is possible before the first open only\n");
}

TEST(DecideBadInput, NamesWhatIsWrongWithAConfiguration) {
  const std::string good = class_with("1", "\"0.5\"", "0");
  EXPECT_EQ(error_of(config_with(good, "")), "there is no replica");
  EXPECT_EQ(error_of(config_with("", "\"r0\"")), "there is no class");
  EXPECT_EQ(error_of(config_with(good, "7")), "replicas[0]: must be a name or an object");
  EXPECT_EQ(error_of(config_with(good, R"("r0","r0")")), "replica 'r0' is there twice");
  EXPECT_EQ(error_of(config_with(good + "," + good, R"("r0")")), "class 'a' is there twice");
  EXPECT_EQ(error_of(config_with(class_with("0", "\"0.5\"", "0"), R"("r0")")),
            "classes[0]: 'saturation' must be a whole number in 1..1000000000");
  EXPECT_EQ(error_of(config_with(class_with("1", "0.5", "0"), R"("r0")")),
            "classes[0]: 'return_ratio' must be a string that is not empty");
  EXPECT_EQ(
      error_of(config_with(class_with("1", "\"60%\"", "0"), R"("r0")")),
      "classes[0]: 'return_ratio' must be a decimal string from \"0\" to \"1\" with at most 9 decimals");
  EXPECT_EQ(error_of(config_with(class_with("1", "\"0.5\"", "1"), R"("r0")")),
            "class 'a': floor must be 0, as no class is above it to borrow from it");
  EXPECT_EQ(error_of(config_with(R"({"name":"a"})", R"("r0")")), "classes[0]: 'saturation' is missing");
  EXPECT_EQ(error_of(config_with(good, R"("r0")", R"(,"pools":{"b":["r0"]})")),
            "pools: \"b\" is neither a class nor mixed");
  EXPECT_EQ(error_of(config_with(good, R"("r0")", R"(,"pools":{"a":["r1"]})")),
            "pools: \"a\": unknown replica \"r1\"");
  EXPECT_EQ(error_of(config_with(good, R"("r0")", R"(,"pools":{"a":["r0"],"mixed":["r0"]})")),
            "pools: \"mixed\": replica \"r0\" is already in a pool");
  EXPECT_EQ(error_of(config_with(good, R"("r0")", R"(,"seed":-1)")),
            "'seed' must be a whole number in 0..18446744073709551615");
  EXPECT_EQ(error_of(R"({"op":"config","policy":"best","classes":[],"replicas":[]})"),
            "unknown policy \"best\"; known are plb, round_robin, least_loaded, dedicated, "
            "random_two_choices, proportional");
}

TEST(DecideBadInput, SurvivesHostileLines) {
  EXPECT_EQ(error_of(std::string(100'000, '[') + std::string(100'000, ']')), "nested deeper than 8 levels");
  EXPECT_NE(error_of(std::string(100'000, '{')), "");
  EXPECT_EQ(error_of("\"" + std::string(5'000'000, 'a') + "\""), "longer than 4194304 bytes");
  EXPECT_EQ(error_of(R"({"op":"open","id":"s","class":"premium","size":1e999})"), "a number is out of range");
  EXPECT_EQ(error_of(R"({"op":"open","op":"close"})"), "key \"op\" is there twice");
  EXPECT_NE(error_of("{\"op\":\"open\",\"id\":\"\xff\"}"), "");
  EXPECT_EQ(error_of(R"({"op":"down","replica":"r\n\u0000\u001b[31m"})"),
            R"(unknown replica "r\n\u0000\u001b[31m")");
  EXPECT_EQ(error_of(config_with(class_with("1", "\"0\"", "0"), R"("a\nb","a\nb")")),
            "replica 'a?b' is there twice");
  EXPECT_LT(error_of(config_with(class_with("1", "\"0\"", "0"),
                                 "\"" + std::string(9999, 'x') + "\",\"" + std::string(9999, 'x') + "\""))
                .size(),
            600u);
}

TEST(DecideBadInput, NamesWhatIsWrongWithOrderAndRoundTrips) {
  const std::string good = class_with("1", R"("1")", "0");
  const auto error_with = [&](const std::string& more) {
    return error_of(config_with(good, R"("x")", more));
  };
  EXPECT_EQ(error_with(R"(,"order":"closest")"),
            "unknown order \"closest\"; known are least_loaded, nearest, sita_e, sita_v");
  EXPECT_NE(error_with(R"(,"order":"nearest","order_within_pool":"nearest")").find("give one of them"),
            std::string::npos);
  EXPECT_NE(error_with(R"(,"nearest_slack":-1)").find("nearest_slack"), std::string::npos);
  EXPECT_EQ(error_with(R"(,"rtt":{"a":7})"), "rtt: \"a\" must be an object of replicas");
  EXPECT_EQ(error_with(R"(,"rtt":{"a":{"y":1}})"), "rtt: \"a\": unknown replica \"y\"");
  for (const std::string value : {"0", "-1", "1e300", "null", R"("1")"})
    EXPECT_EQ(error_with(R"(,"rtt":{"a":{"x":)" + value + "}}"),
              "rtt: \"a\": \"x\" must be milliseconds, above 0");
}

}  // namespace
}  // namespace sluice::decide
