#include "trace/statement_capture.h"

#include <string>

#include <gtest/gtest.h>

namespace sluice::trace {
namespace {

std::string parse_body(std::string_view name, std::string_view sql) {
  std::string body(name);
  body += '\0';
  body += sql;
  body.append(std::string_view("\0\0\1\0\0\0\x17", 7));
  return body;
}

TEST(StatementCapture, GivesTheSameWhereverTheMessageIsCut) {
  const std::string body = parse_body("s1", "/*a='b'*/ SELECT $1 /*route='x'*/");
  for (std::size_t cut = 0; cut <= body.size(); ++cut) {
    StatementCapture capture('P');
    capture.add(std::string_view(body).substr(0, cut));
    capture.add(std::string_view(body).substr(cut));
    EXPECT_EQ(capture.name(), "s1") << cut;
    EXPECT_EQ(capture.front(), "/*a='b'*/ SELECT $1 /*route='x'*/") << cut;
    EXPECT_EQ(capture.back(), capture.front()) << cut;
  }
}

TEST(StatementCapture, KeepsBothEndsOfAHugeTextInBoundedMemory) {
  for (const std::size_t piece : {1U, 100U, 5000U, 70'000U}) {
    std::string sql = "BEGINNING";
    for (int i = 0; i < 50'000; ++i)
      sql += static_cast<char>('a' + i % 26);
    sql += "END";
    StatementCapture capture('Q');
    const std::string body = sql + '\0';
    for (std::size_t at = 0; at < body.size(); at += piece) {
      capture.add(std::string_view(body).substr(at, piece));
      ASSERT_LE(capture.back().size(), 2 * StatementCapture::kEndBytes);
    }
    ASSERT_EQ(capture.front().size(), StatementCapture::kEndBytes);
    ASSERT_TRUE(sql.starts_with(capture.front()));
    ASSERT_GE(capture.back().size(), StatementCapture::kEndBytes);
    ASSERT_TRUE(sql.ends_with(capture.back()));
  }
}

TEST(StatementCapture, CutsNamesThatAreTooLong) {
  StatementCapture capture('P');
  capture.add(parse_body(std::string(100'000, 'n'), "SELECT 1"));
  EXPECT_EQ(capture.name().size(), StatementCapture::kNameBytesMax);
  EXPECT_EQ(capture.front(), "SELECT 1");
}

}  // namespace
}  // namespace sluice::trace
