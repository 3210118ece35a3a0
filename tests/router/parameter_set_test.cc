#include "router/parameter_set.h"

#include <thread>

#include <gtest/gtest.h>

#include "protocol/backend_messages.h"

namespace sluice::router {
namespace {

const ParameterSet::Entries kEntries = {{"TimeZone", "UTC"}, {"client_encoding", "UTF8"}};

TEST(ParameterSet, KnowsValuesByName) {
  const ParameterSet set(kEntries);
  EXPECT_EQ(set.value("client_encoding"), "UTF8");
  EXPECT_EQ(set.value("DateStyle"), "");
}

TEST(ParameterSet, BecomesOneMessagePerEntryInTheirOrder) {
  Bytes expected;
  protocol::append_parameter_status(expected, "TimeZone", "UTC");
  protocol::append_parameter_status(expected, "client_encoding", "UTF8");
  Bytes out;
  ParameterSet(kEntries).append_messages(out);
  EXPECT_EQ(out, expected);
}

TEST(ParameterSet, IsSharedByAllThatReportTheSame) {
  const auto one = ParameterSet::intern(kEntries);
  EXPECT_EQ(ParameterSet::intern(kEntries), one);
  EXPECT_NE(ParameterSet::intern({{"TimeZone", "UTC"}}), one);
}

TEST(ParameterSet, TakesChangesOn) {
  const auto base = ParameterSet::intern(kEntries);
  EXPECT_EQ(ParameterSet::apply(base, {}), base);
  EXPECT_EQ(ParameterSet::apply(base, {{"TimeZone", "UTC"}}), base);
  const auto changed = ParameterSet::apply(base, {{"TimeZone", "CET"}, {"DateStyle", "ISO"}});
  EXPECT_EQ(changed->entries(),
            (ParameterSet::Entries{{"TimeZone", "CET"}, {"client_encoding", "UTF8"}, {"DateStyle", "ISO"}}));
  EXPECT_EQ(ParameterSet::apply(changed, {{"DateStyle", "SQL"}, {"DateStyle", "ISO"}}), changed)
      << "the last of repeats counts";
}

TEST(ParameterSet, MayBeSharedFromAllThreads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([] {
      for (int i = 0; i < 500; ++i) {
        const auto set = ParameterSet::intern({{"a", std::to_string(i % 3)}});
        EXPECT_EQ(set->value("a"), std::to_string(i % 3));
      }
    });
  for (std::thread& thread : threads)
    thread.join();
}

}  // namespace
}  // namespace sluice::router
