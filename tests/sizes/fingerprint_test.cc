#include "sizes/fingerprint.h"

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::sizes {
namespace {

std::string text(std::string_view sql) {
  return outline(sql, 1000);
}

TEST(Fingerprint, LeavesOutWhatLiteralsSay) {
  const std::string plain = "SELECT * FROM t WHERE a = 1 AND b = 'x'";
  EXPECT_EQ(text(plain), "select * from t where a = ? and b = ?");
  for (const char* sql :
       {"select * from t where a=12.5e-3 and b='it''s'", "select * from T where a = $1 and b = $2",
        "select * from t where a = 0xFF and b = E'a\\'b'", "select * from t where a = .5 and b = e'\\\\'",
        "select * from t where a = -5 and b = $$x'y$$",
        "select * from t where a = 1_000 and b = $q$ $$ ' $q$", "select * from t where a = null and b = true",
        "select * from t where a = X'1F' and b = U&'d\\0061'", "select * from t where a = B'01' and b = N'x'",
        "select * from t where a = 'x'\n'y' and b = 1"}) {
    EXPECT_EQ(text(sql), text(plain)) << sql;
    EXPECT_EQ(fingerprint(sql), fingerprint(plain)) << sql;
  }
}

TEST(Fingerprint, LeavesOutCommentsAndWhiteSpace) {
  const std::uint64_t plain = fingerprint("select a from t");
  for (const char* sql :
       {" select\ta\nfrom t ", "select a -- 'x\nfrom t", "select/* it's /* nested */ */a from t",
        "select a from t /*route='%2Ffeed',traceparent='00-1'*/", "/* ' */select a from t--"})
    EXPECT_EQ(fingerprint(sql), plain) << sql;
  EXPECT_EQ(fingerprint(""), 1U) << "0 stands for whole sessions";
  EXPECT_EQ(fingerprint("  -- nothing"), 1U);
}

TEST(Fingerprint, TellsStatementsApart) {
  const std::vector<std::string> all = {"select a from t",
                                        "select b from t",
                                        "select ab from t",
                                        "select a, b from t",
                                        "select a from t where a = 1",
                                        "select a from t where a <> 1",
                                        "select a from t where f(1)",
                                        "select a from \"t\"",
                                        "select a from \"T\"",
                                        "select 'a' from t",
                                        "select abcdefghij from t",
                                        "select abcdefgh ij from t",
                                        "select a - 1 from t",
                                        "select a -> 'x' from t",
                                        "select a ->> 'x' from t",
                                        "begin",
                                        "commit"};
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      EXPECT_NE(fingerprint(all[i]), fingerprint(all[j])) << all[i] << " / " << all[j];
}

TEST(Fingerprint, TakesListsAndRowsOfLiteralsForOne) {
  EXPECT_EQ(text("select 1 from t where a in (1, 2,'x', $4)"), "select ? from t where a in ( ? )");
  EXPECT_EQ(text("select array[1,2,3]"), "select array [ ? ]");
  EXPECT_EQ(text("insert into t values (1,'a'),(2,'b'), (3,null) returning id"),
            "insert into t values ( ? ) returning id");
  EXPECT_EQ(text("values (1),(2"), "values ( ? ) , ( ?");
  EXPECT_EQ(text("values (1),(2,"), "values ( ? ) , ( ? ,");
  EXPECT_EQ(text("values (1),(2+a)"), "values ( ? ) , ( ? + a )");
  EXPECT_EQ(text("values (1),()"), "values ( ? ) , ( )");
  EXPECT_EQ(text("values (1),(2,now())"), "values ( ? ) , ( ? , now ( ) )");
  EXPECT_EQ(text("f(1), a"), "f ( ? ) , a");
  EXPECT_EQ(text("(1, a)"), "( ? , a )");
}

TEST(Fingerprint, TakesAMinusForASignOnlyWhereOneCanStand) {
  EXPECT_EQ(text("a = -1"), "a = ?");
  EXPECT_EQ(text("(1) -1"), "( ? ) - ?");
  EXPECT_EQ(text("$1-1"), "? - ?");
  EXPECT_EQ(text("a - b"), "a - b");
}

TEST(Fingerprint, EndsWhatDoesNotEndWithTheText) {
  for (const char* sql : {"select 'abc", "select e'abc\\", "select $q$abc", "select $$abc", "select u&'abc"})
    EXPECT_EQ(text(sql), "select ?") << sql;
  for (const char* sql : {"select /* abc", "select -- abc", "select /*/*abc*/"})
    EXPECT_EQ(text(sql), "select") << sql;
  EXPECT_EQ(text("select \"abc"), "select \"abc");
  EXPECT_EQ(text("select $"), "select $");
  EXPECT_EQ(text("select $a"), "select $ a");
  EXPECT_EQ(text("select u&"), "select u &");
  EXPECT_EQ(text("select 1e-"), "select ?");
  for (const char* sql : {"'", "$$", "e'", "1"})
    EXPECT_EQ(text(sql), "?") << sql;
}

// A string goes on in the next line with the escapes that it began with.
TEST(Fingerprint, KeepsLiteralsOutThatGoOnInTheNextLine) {
  for (const char* sql :
       {"select e'a'\n'b\\' secret ' from t", "select E'a' \t-- it's\r\n -- more\n 'b\\' secret ' from t",
        "select e'a'\n'\\''\n'\\' secret' from t", "select 'a'\n'b\\' from t"})
    EXPECT_EQ(text(sql), "select ? from t") << sql;
  EXPECT_EQ(text("select e'a' 'b\\' , c"), "select ? , c") << "no newline, so not the same string";
  EXPECT_EQ(text("select e'a'\n-- c"), "select ?");
  EXPECT_EQ(text("select e'a'\n"), "select ?");
  EXPECT_EQ(text("select e'a' -- c"), "select ?");
  EXPECT_EQ(text("select e'a'\n, b"), "select ? , b");
}

TEST(Fingerprint, ReadsABackslashAsTheServerDoes) {
  const std::string sql = "select 'it\\' secret ' from t where n'\\' secret' = \"a\\\"";
  EXPECT_EQ(outline(sql, 100, true), "select ? from t where ? = \"a\\\"");
  EXPECT_NE(outline(sql, 100, false), outline(sql, 100, true));
  EXPECT_EQ(fingerprint(sql, true), fingerprint("select 'x' from t where 'y' = \"a\\\"", true));
  EXPECT_EQ(outline("select x'a\\' || 'a'\n'\\' secret'", 100, true), "select ? | | ?");
}

// Bytes are read many at a time, wherever in the text something stands and however long it is.
TEST(Fingerprint, FindsTheEndsOfQuotesAndWordsWhereverTheyStand) {
  for (std::size_t before = 0; before < 20; ++before)
    for (std::size_t length = 0; length < 140; length += length < 20 ? 1 : 7) {
      SCOPED_TRACE(testing::Message() << before << " before " << length);
      const std::string space(before, ' '), word(length, 'X');
      const std::string lower = length > 0 ? " " + std::string(length, 'x') : "";
      EXPECT_EQ(text(space + "a '" + word + "' b"), "a ? b");
      EXPECT_EQ(text(space + "a '" + word + "''" + word + "' b"), "a ? b");
      EXPECT_EQ(text(space + "a \"" + word + "\" b"), "a \"" + word + "\" b");
      EXPECT_EQ(text(space + "a \"" + word + "\"\"b"), "a \"" + word + "\"\"b");
      EXPECT_EQ(text(space + "a " + word + "+b"), "a" + lower + " + b");
      EXPECT_EQ(text(space + "a " + word), "a" + lower);
      EXPECT_EQ(text(space + "a '" + word), "a ?");
    }
  EXPECT_EQ(text(std::string("a\0b", 3)), "a b");
}

TEST(Fingerprint, LooksAtABoundedPart) {
  std::string sql = "select ";
  while (sql.size() < kStatementBytesMax)
    sql += "abcdefg ";
  EXPECT_EQ(fingerprint(sql + "x"), fingerprint(sql + "y"));
  EXPECT_LE(outline(sql, 50).size(), 50U);
}

// What has the same outline has the same fingerprint and, as far as chance goes, no other; whatever the
// bytes.
TEST(Fingerprint, AgreesWithTheOutlineForAnyText) {
  std::mt19937_64 random(7);
  const std::string alphabet = "ab1'\"$-/*.,()[] \nEU&x\\_+\xC3";
  std::vector<std::pair<std::string, std::uint64_t>> seen;
  for (int i = 0; i < 3000; ++i) {
    std::string sql;
    for (std::uint64_t n = random() % 12; n > 0; --n)
      sql += alphabet[random() % alphabet.size()];
    const std::string spaced = "/**/ " + sql + "\n";
    if (sql.find('\'') == std::string::npos && sql.find('"') == std::string::npos &&
        sql.find('$') == std::string::npos && sql.find("/*") == std::string::npos &&
        sql.find("--") == std::string::npos) {
      EXPECT_EQ(fingerprint(spaced), fingerprint(sql)) << sql;
    }
    seen.emplace_back(text(sql), fingerprint(sql));
  }
  std::sort(seen.begin(), seen.end());
  for (std::size_t i = 1; i < seen.size(); ++i)
    EXPECT_EQ(seen[i].first == seen[i - 1].first, seen[i].second == seen[i - 1].second)
        << seen[i - 1].first << " / " << seen[i].first;
}

}  // namespace
}  // namespace sluice::sizes
