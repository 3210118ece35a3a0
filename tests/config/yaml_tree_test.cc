#include "config/yaml_tree.h"

#include <gtest/gtest.h>

#include "tests/config/loading.h"

namespace sluice::config {
namespace {

std::string repeated(std::string_view text, std::size_t bytes) {
  std::string out;
  while (out.size() < bytes)
    out += text;
  return out;
}

TEST(YamlTree, KeepsOrderPlacesAndKinds) {
  Problems problems;
  const auto root = parse_yaml("a: 1\nb:\n  - x\n  - {c: \"\", d: ~}\n", "f", problems);
  ASSERT_TRUE(root && problems.empty()) << text_of(problems);
  ASSERT_EQ(root->entries.size(), 2U);
  EXPECT_EQ(root->entries[1].position.line, 2U);
  const Node* const list = root->find("b");
  ASSERT_NE(list, nullptr);
  EXPECT_EQ(list->items[1].position.line, 4U);
  EXPECT_EQ(list->items[1].find("c")->kind, Node::Kind::Scalar);
  EXPECT_EQ(list->items[1].find("d")->kind, Node::Kind::Null);
}

TEST(YamlTree, FindsDuplicateKeys) {
  Problems problems;
  const auto root = parse_yaml("a: 1\nb: 2\na: 3\n", "f", problems);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].line, 3U);
  EXPECT_EQ(problems[0].key, "a");
  ASSERT_TRUE(root);
  EXPECT_EQ(root->find("a")->scalar, "1");
}

TEST(YamlTree, MakesProblemsOfBadSyntax) {
  for (const char* const text :
       {"a: [1, 2\n", "a: \"x\n", "a:\n\t- b\n", "{a: b", "a: b: c\n", "%YAML 9\n", "- a\nb: c\n", "&", "*x",
        "a: *x\n", "a: !!bad,tag x", "---\na: 1\n---\nb: 2\n", "? [a]\n: b\n", "a: \"x\nb: c\n",
        "a: 'x\nb: c\n\n"}) {
    Problems problems;
    parse_yaml(text, "f", problems);
    EXPECT_FALSE(problems.empty()) << text;
  }
}

TEST(YamlTree, RefusesAliasesThatMultiply) {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 30; ++i) {
    const std::string last = "*a" + std::to_string(i - 1);
    text +=
        "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + last + "," + last + "," + last + "]\n";
  }
  Problems problems;
  parse_yaml(text, "f", problems);
  ASSERT_FALSE(problems.empty());
  EXPECT_NE(problems[0].message.find("aliases"), std::string::npos);
}

TEST(YamlTree, SurvivesAnyNestingAndSize) {
  for (const char* const piece :
       {"[",    "{",   "[\n", "{\n", "{a: ", "[a, ", "- ", "-\n",   "? ",    "- - ",   "a: \n",
        "? - ", "!a ", "&a ", "\"",  "'",    "|\n",  "%",  "[]",    "a",     "a: b\n", "a\n",
        "#",    "\n",  " ",   "]",   "}",    ":",    ",",  "---\n", "...\n", "- a\n",  "x: {\n"}) {
    Problems problems;
    const auto root = parse_yaml(repeated(piece, std::size_t{1} << 18), "f", problems);
    if (!root) {
      EXPECT_FALSE(problems.empty()) << piece;
    }
  }
  std::string deeper;
  for (std::size_t depth = 0; depth < 3000; ++depth)
    deeper += std::string(depth, ' ') + "a:\n";
  Problems problems;
  EXPECT_FALSE(parse_yaml(deeper, "f", problems));
}

TEST(YamlTree, RefusesMoreThanItsMaxima) {
  Problems problems;
  EXPECT_FALSE(parse_yaml(repeated("- a\n", 2 << 20), "f", problems));
  EXPECT_FALSE(parse_yaml(repeated(" ", kFileBytesMax + 1), "f", problems));
  EXPECT_EQ(problems.size(), 2U);
}

TEST(YamlTree, StopsAtAZeroByte) {
  Problems problems;
  EXPECT_FALSE(parse_yaml(std::string_view("a: b\n\0", 6), "f", problems));
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].line, 2U);
}

}  // namespace
}  // namespace sluice::config
