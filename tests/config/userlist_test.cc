#include "config/userlist.h"

#include <gtest/gtest.h>

#include "tests/config/loading.h"

namespace sluice::config {
namespace {

TEST(Userlist, ReadsPgBouncersFormat) {
  Problems problems;
  const auto users = parse_userlist(
      "; comment\n\n# comment\n\"b\" \"md50123456789abcdef0123456789abcdef\" \"ignored\"\r\n  "
      "\"a\"\t\"x\"\"y\"\n"
      "\"q\"\"uote\" \"\"",
      "u", problems);
  EXPECT_TRUE(problems.empty()) << text_of(problems);
  ASSERT_EQ(users.size(), 3U);
  EXPECT_EQ(users[0], (UserEntry{"a", "x\"y"}));
  EXPECT_EQ(users[1].name, "b");
  EXPECT_EQ(users[2], (UserEntry{"q\"uote", ""}));
}

TEST(Userlist, NamesLineAndColumnAndNoSecret) {
  Problems problems;
  parse_userlist(
      "\"a\" \"s3cret\"\nb \"s3cret\"\n\"c\" s3cret\n\"d\" \"s3cret\n\"a\" \"s3cret\"\n\"\" \"s3cret\"\n",
      "u", problems);
  ASSERT_EQ(problems.size(), 5U) << text_of(problems);
  EXPECT_EQ(problems[0].line, 2U);
  EXPECT_EQ(problems[0].column, 1U);
  EXPECT_EQ(problems[1].line, 3U);
  EXPECT_EQ(problems[1].column, 5U);
  EXPECT_EQ(problems[2].line, 4U);
  EXPECT_EQ(problems[3].line, 6U);
  EXPECT_EQ(problems[4].line, 5U);
  EXPECT_NE(problems[4].message.find("in line 1"), std::string::npos);
  EXPECT_EQ(text_of(problems).find("s3cret"), std::string::npos);
}

TEST(Userlist, RefusesBrokenVerifiers) {
  const std::string good = "\"a\" \"" + std::string(kVerifier) + "\"\n";
  Problems none;
  EXPECT_EQ(parse_userlist(good, "u", none).size(), 1U);
  EXPECT_TRUE(none.empty());
  for (std::size_t cut = std::string("\"a\" \"SCRAM-SHA-256$").size(); cut + 2 < good.size(); ++cut) {
    Problems problems;
    parse_userlist(good.substr(0, cut) + "\"\n", "u", problems);
    EXPECT_EQ(problems.size(), 1U) << cut;
  }
}

TEST(Userlist, SaysLittleAboutAFileOfAnotherFormat) {
  std::string text;
  for (int i = 0; i < 10'000; ++i)
    text += "user:password\n";
  Problems problems;
  EXPECT_TRUE(parse_userlist(text, "u", problems).empty());
  EXPECT_LE(problems.size(), 20U);
}

TEST(SecretKind, GoesByTheLook) {
  EXPECT_EQ(secret_kind(""), SecretKind::None);
  EXPECT_EQ(secret_kind("md5"), SecretKind::Plain);
  EXPECT_EQ(secret_kind("md50123456789abcdef0123456789abcdeg"), SecretKind::Plain);
  EXPECT_EQ(secret_kind("md50123456789abcdef0123456789abcdef"), SecretKind::Md5);
  EXPECT_EQ(secret_kind(kVerifier), SecretKind::Scram);
}

}  // namespace
}  // namespace sluice::config
