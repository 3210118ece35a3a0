#include <set>

#include <gtest/gtest.h>

#include "config/fields.h"
#include "config/kind_text.h"

namespace sluice::config {
namespace {

Node scalar(std::string text) {
  Node node;
  node.kind = Node::Kind::Scalar;
  node.scalar = std::move(text);
  return node;
}

template <class Kind>
std::optional<typename Kind::Value> read(const std::string& text, Limits limits) {
  auto value = typename Kind::Value{};
  if (!KindText<Kind>::read(scalar(text), limits, value).empty()) return std::nullopt;
  return value;
}

TEST(Kinds, ReadsTimesWithAndWithoutUnits) {
  using namespace std::chrono_literals;
  const Limits limits{0, 86'400'000};
  EXPECT_EQ(read<kind::Seconds>("90", limits), 90s);
  EXPECT_EQ(read<kind::Seconds>("90s", limits), 90s);
  EXPECT_EQ(read<kind::Seconds>("2 min", limits), 120s);
  EXPECT_EQ(read<kind::Seconds>("1d", limits), 86400s);
  EXPECT_EQ(read<kind::Seconds>("3000ms", limits), 3s);
  EXPECT_EQ(read<kind::Seconds>("1500ms", limits), std::nullopt);
  EXPECT_EQ(read<kind::Milliseconds>("1500", limits), 1500ms);
  EXPECT_EQ(read<kind::Milliseconds>("2s", limits), 2000ms);
}

TEST(Kinds, RefusesWhatIsNotAWholeNumberInRange) {
  for (const char* const text : {"", "-1", "+1", "1.5", "1e3", "0x10", "1 2", "s", "1S", "1hour", "6",
                                 "99999999999999999999", "9223372036854775807d", " 1", "1,000"})
    EXPECT_EQ(read<kind::Seconds>(text, {0, 5}), std::nullopt) << text;
  EXPECT_EQ(read<kind::Count>("4294967296", {0, INT64_C(4294967295)}), std::nullopt);
  EXPECT_EQ(read<kind::Count>("5s", {0, 10}), std::nullopt);
}

TEST(Kinds, ReadsPermissionsInOctal) {
  const Limits limits{0, 0777};
  EXPECT_EQ(read<kind::FileMode>("0640", limits), 0640);
  EXPECT_EQ(read<kind::FileMode>("600", limits), 0600);
  for (const char* const text : {"", "0800", "01777", "rw-r--r--", "0x1ff", "-1", "0640 ", "777777777"})
    EXPECT_EQ(read<kind::FileMode>(text, limits), std::nullopt) << text;
  EXPECT_EQ(KindText<kind::FileMode>::print(0640), "0640");
  EXPECT_EQ(KindText<kind::FileMode>::print(0007), "0007");
}

TEST(Kinds, ReadsSizes) {
  const Limits limits{0, INT64_C(1) << 40};
  EXPECT_EQ(read<kind::Bytes>("32kB", limits), 32768U);
  EXPECT_EQ(read<kind::Bytes>("1TB", limits), UINT64_C(1) << 40);
  EXPECT_EQ(read<kind::Bytes>("2TB", limits), std::nullopt);
  EXPECT_EQ(read<kind::Bytes>("9223372036854775807TB", limits), std::nullopt);
}

TEST(Kinds, ReadsFlagsAsYamlAndPgBouncerWriteThem) {
  for (const char* const text : {"true", "on", "yes", "1"})
    EXPECT_EQ(read<kind::Flag>(text, {}), true) << text;
  for (const char* const text : {"false", "off", "no", "0"})
    EXPECT_EQ(read<kind::Flag>(text, {}), false) << text;
  EXPECT_EQ(read<kind::Flag>("2", {}), std::nullopt);
}

TEST(Kinds, ReadsListsFromCommas) {
  EXPECT_EQ(read<kind::TextList>("a, b,c", {0, 3}), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(read<kind::TextList>("", {0, 3}), std::vector<std::string>{});
  EXPECT_EQ(read<kind::TextList>("a,,b", {0, 3}), std::nullopt);
  EXPECT_EQ(read<kind::TextList>("a,b,c,d", {0, 3}), std::nullopt);
}

TEST(Kinds, KeepsControlCharactersOutOfMessages) {
  std::uint32_t value = 0;
  const std::string wrong =
      KindText<kind::Count>::read(scalar("\x1b[2J" + std::string(500, 'x')), {0, 1}, value);
  EXPECT_EQ(wrong.find('\x1b'), std::string::npos);
  EXPECT_LT(wrong.size(), 200U);
}

TEST(Kinds, QuotesOnlyWhatNeedsIt) {
  EXPECT_EQ(quoted_if_needed("10.0.0.0/8"), "10.0.0.0/8");
  EXPECT_EQ(quoted_if_needed(""), "\"\"");
  EXPECT_EQ(quoted_if_needed("*"), "\"*\"");
  EXPECT_EQ(quoted_if_needed("a\"b\\c\nd"), "\"a\\\"b\\\\c\\x0ad\"");
  EXPECT_EQ(quoted_if_needed("null"), "\"null\"");
  EXPECT_EQ(quoted_if_needed("::"), "\"::\"");
}

TEST(OptionTable, HasDefaultsWithinTheirRangeAndHelpThatEnds) {
  Options options;
  std::set<std::string_view> keys;
  for (const Field<Options>& field : fields_of<Options>()) {
    EXPECT_TRUE(keys.insert(field.key).second) << field.key;
    EXPECT_TRUE(field.help.ends_with('.')) << field.key;
    EXPECT_FALSE(field.group.empty()) << field.key;
    // The default, written as the console shows it, reads back as itself.
    const std::string bare = field.console(options);
    EXPECT_EQ(field.read(options, scalar(bare), field.limits), "") << field.key;
    EXPECT_EQ(field.console(options), bare) << field.key;
  }
}

}  // namespace
}  // namespace sluice::config
