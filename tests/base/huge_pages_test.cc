#include "base/huge_pages.h"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(HugePages, BeginsLargeTablesAtAPage) {
  using Table = std::vector<std::uint64_t, HugePages<std::uint64_t>>;
  const Table large(HugePages<std::uint64_t>::kWorthwhileBytes / sizeof(std::uint64_t));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(large.data()) % HugePages<std::uint64_t>::kPageBytes, 0U);
}

TEST(HugePages, KeepsWhatATableHoldsAsItGrows) {
  std::vector<std::uint64_t, HugePages<std::uint64_t>> table;
  for (std::uint64_t i = 0; i < 500'000; ++i)
    table.push_back(i);
  for (std::uint64_t i = 0; i < table.size(); ++i)
    ASSERT_EQ(table[i], i);
}

}  // namespace
}  // namespace sluice
