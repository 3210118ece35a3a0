#include "protocol/startup_options.h"

#include <gtest/gtest.h>

namespace sluice::protocol {
namespace {

using Words = std::vector<std::string>;

struct Taken {
  std::string options;
  SluiceOptions sluice;
};

Taken take(std::string options) {
  StartupMessage startup;
  startup.options = std::move(options);
  SluiceOptions sluice = take_sluice_options(startup);
  return {startup.options, std::move(sluice)};
}

TEST(StartupOptions, SplitsWordsByPostgreSqlsBackslashRules) {
  EXPECT_EQ(split_options(""), Words{});
  EXPECT_EQ(split_options(" \t\n"), Words{});
  EXPECT_EQ(split_options("  -c a=b\t--c=d "), (Words{"-c", "a=b", "--c=d"}));
  EXPECT_EQ(split_options(R"(a\ b \\c d\)"), (Words{"a b", R"(\c)", "d"}));
}

TEST(StartupOptions, FindsSettingsInEveryFormGetoptReads) {
  const auto settings = option_settings("-c a=1 -cb=2 --c-d=3 -ec e=4 -f -cg=5 -c h");
  ASSERT_EQ(settings.size(), 5u);
  EXPECT_EQ(settings[0].name, "a");
  EXPECT_EQ(settings[1].value, "2");
  EXPECT_EQ(settings[2].name, "c_d");
  EXPECT_EQ(settings[3].name, "e");
  EXPECT_EQ(settings[4].name, "h");  // -cg=5 was the argument of -f
  EXPECT_EQ(settings[4].value, std::nullopt);
  EXPECT_TRUE(option_settings("-- -c a=1").empty());
  EXPECT_TRUE(option_settings("-c").empty());
}

TEST(StartupOptions, TakesOutWhatIsOursAndLeavesTheRestByteIdentical) {
  const Taken taken = take(R"(-c  a=x\ y -c sluice.priority=premium  --geqo=off -csluice.host=h1)");
  EXPECT_EQ(taken.options, R"(-c  a=x\ y --geqo=off)");
  EXPECT_EQ(taken.sluice.priority, "premium");
  EXPECT_EQ(taken.sluice.host, "h1");
  EXPECT_EQ(take("-c sluice.target=primary").options, "");
  EXPECT_EQ(take("  -c a=b  ").options, "  -c a=b  ");
  EXPECT_EQ(take("-ec sluice.size=5 -c a=b").options, "-e -c a=b");
  EXPECT_EQ(take("--SLUICE.Size=5").sluice.size, "5");
  EXPECT_EQ(take("-c sluice.nosuch=1").sluice.unknown, Words{"sluice.nosuch"});
  EXPECT_EQ(take(R"(-c a=x\  -c sluice.size=1)").options, R"(-c a=x\ )");
}

TEST(StartupOptions, LetsAParameterOfItsOwnWinOverOptions) {
  StartupMessage startup;
  startup.options = "-c sluice.priority=a -c sluice.priority=b";
  startup.parameters = {{"x", "1"}, {"sluice.priority", "c"}, {"y", "2"}};
  EXPECT_EQ(take_sluice_options(startup).priority, "c");
  EXPECT_EQ(startup.parameters, (std::vector<Parameter>{{"x", "1"}, {"y", "2"}}));
  startup.options = "-c sluice.priority=a -c sluice.priority=b";
  EXPECT_EQ(take_sluice_options(startup).priority, "b");
}

}  // namespace
}  // namespace sluice::protocol
