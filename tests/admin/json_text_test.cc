#include "admin/json_text.h"

#include <limits>
#include <optional>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace sluice::admin {
namespace {

using Json = nlohmann::json;

TEST(JsonText, WritesObjectsAndListsInTheirOrder) {
  JsonText json;
  json.begin_object().member("a", std::int64_t{1}).key("b").begin_array();
  json.value("x").value(true).null().begin_object().end_object().begin_array().end_array();
  json.end_array()
      .member("c", std::optional<bool>())
      .member("d", std::optional<std::int64_t>(-7))
      .end_object();
  EXPECT_EQ(json.take(), R"({"a":1,"b":["x",true,null,{},[]],"c":null,"d":-7})");
}

TEST(JsonText, WritesEveryNumber) {
  for (const std::int64_t number : {std::numeric_limits<std::int64_t>::min(), std::int64_t{0},
                                    std::numeric_limits<std::int64_t>::max()}) {
    JsonText json;
    json.value(number);
    EXPECT_EQ(json.take(), std::to_string(number));
  }
}

TEST(JsonText, EscapesWhatCouldEndTextOrLine) {
  std::string all;
  for (int c = 1; c < 128; ++c)
    all += static_cast<char>(c);
  all += "\xC3\xA4\xE2\x82\xAC";
  all += '\0';
  JsonText json;
  json.begin_object().member(all, all).end_object();
  const std::string text = json.take();
  EXPECT_EQ(text.find('\n'), std::string::npos);
  EXPECT_EQ(Json::parse(text), (Json{{all, all}}));
}

}  // namespace
}  // namespace sluice::admin
