#include "import/ini.h"

#include <gtest/gtest.h>

#include "tests/import/files.h"

namespace sluice::import::testing {
namespace {

Ini read_text(const std::string& text) {
  const Files files{{{"a.ini", text}}};
  return read_ini("a.ini", files.reader());
}

std::string texts(const std::vector<Note>& notes) {
  std::string out;
  for (const Note& note : notes)
    out += to_string(note) + "\n";
  return out;
}

TEST(Ini, KeepsSectionKeyValueAndPlace) {
  const Ini ini = read_text(
      "; comment\n# another\n\n[pgbouncer]\n  listen_port = 6432 \r\nlogfile =\n[Databases]\n\"my \"\"db\" = "
      "host=h\n");
  ASSERT_TRUE(ini.problems.empty()) << texts(ini.problems);
  ASSERT_EQ(ini.entries.size(), 3U);
  EXPECT_EQ(ini.entries[0].section, "pgbouncer");
  EXPECT_EQ(ini.entries[0].key, "listen_port");
  EXPECT_EQ(ini.entries[0].value, "6432");
  EXPECT_EQ(ini.entries[0].place.line, 5U);
  EXPECT_EQ(ini.entries[1].value, "");
  EXPECT_EQ(ini.entries[2].section, "databases");
  EXPECT_EQ(ini.entries[2].key, "my \"db");
  EXPECT_EQ(ini.entries[2].value, "host=h");
}

TEST(Ini, ReadsIncludedFilesInPlaceAndStaysInTheSectionTheyEndIn) {
  const Files files{
      {{"a.ini", "[pgbouncer]\na = 1\n%include b.ini\nd = 4\n"}, {"b.ini", "b = 2\n[users]\nc = 3\n"}}};
  const Ini ini = read_ini("a.ini", files.reader());
  ASSERT_TRUE(ini.problems.empty()) << texts(ini.problems);
  ASSERT_EQ(ini.entries.size(), 4U);
  EXPECT_EQ(ini.entries[1].place.file, "b.ini");
  EXPECT_EQ(ini.entries[1].place.line, 1U);
  EXPECT_EQ(ini.entries[3].section, "users");
}

TEST(Ini, SaysWhereItCannotBeRead) {
  EXPECT_EQ(texts(read_text("[pgbouncer\n").problems), "a.ini:1: a section without ]: [pgbouncer\n");
  EXPECT_EQ(texts(read_text("a = 1\nnonsense\n").problems),
            "a.ini:2: neither a section nor key = value: nonsense\n");
  EXPECT_EQ(texts(read_text("%inclood x\n").problems), "a.ini:1: an unknown directive: %inclood x\n");
  EXPECT_EQ(texts(read_text("%include\n").problems), "a.ini:1: an unknown directive: %include\n");
  EXPECT_NE(texts(read_text("\n%include gone.ini\n").problems).find("a.ini:2: gone.ini cannot be read"),
            std::string::npos);
  for (const auto* text : {"\"open = 1\n", "= 1\n", "\"a\" b = 1\n", "\"\" = 1\n"})
    EXPECT_EQ(read_text(text).problems.size(), 1U) << text;
  EXPECT_EQ(read_text(std::string("a = \0 1\n", 8)).problems.size(), 1U);
}

TEST(Ini, IsBoundedInEveryDirection) {
  EXPECT_EQ(read_text("%include a.ini\n").problems.size(), 1U) << "includes itself";
  EXPECT_EQ(read_text(std::string(kIniBytesMax + 1, '\n')).problems.size(), 1U);
  std::string many;
  for (std::size_t i = 0; i <= kIniEntriesMax; ++i)
    many += "k=v\n";
  EXPECT_FALSE(read_text(many).problems.empty());
  std::string wrong;
  for (int i = 0; i < 1000; ++i)
    wrong += "x\n";
  EXPECT_LE(read_text(wrong).problems.size(), 20U);
  EXPECT_EQ(read_text(std::string(100'000, 'k') + " = 1\n").problems.size(), 1U);
  std::string twice;
  for (int i = 0; i < 100; ++i)
    twice += "%include b.ini\n";
  const Files files{{{"a.ini", twice}, {"b.ini", "\n"}}};
  EXPECT_FALSE(read_ini("a.ini", files.reader()).problems.empty());
}

TEST(Pairs, AreSplitAtBlanksAndQuoted) {
  std::string bad;
  const auto pairs = parse_pairs("host=10.0.0.1  dbname = 'it''s' password='' port=5433", bad);
  ASSERT_TRUE(pairs);
  EXPECT_EQ(*pairs, (Pairs{{"host", "10.0.0.1"}, {"dbname", "it's"}, {"password", ""}, {"port", "5433"}}));
  EXPECT_TRUE(parse_pairs("", bad)->empty());
}

TEST(Pairs, NameTheWordAtFaultAndNoValue) {
  std::string bad;
  EXPECT_FALSE(parse_pairs("host=a nonsense", bad));
  EXPECT_EQ(bad, "nonsense");
  EXPECT_FALSE(parse_pairs("password='secret", bad));
  EXPECT_EQ(bad, "password");
  EXPECT_FALSE(parse_pairs("=x", bad));
  EXPECT_FALSE(parse_pairs("a b=x", bad));
}

}  // namespace
}  // namespace sluice::import::testing
