#include "base/nearest.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(Nearest, FindsTheLikelyMisspelling) {
  const std::string_view known[] = {"listen_addr", "listen_port", "policy"};
  EXPECT_EQ(nearest("listen_prot", known), "listen_port");
  EXPECT_EQ(nearest("listenaddr", known), "listen_addr");
  EXPECT_EQ(nearest("polciy", known), "policy");
  EXPECT_EQ(nearest("policy", known), "policy");
  EXPECT_EQ(nearest("POLICI", known), "policy");
}

TEST(Nearest, FindsNothingFarAway) {
  const std::string_view known[] = {"policy", "threads"};
  EXPECT_EQ(nearest("zzzzzz", known), std::nullopt);
  EXPECT_EQ(nearest("", known), std::nullopt);
  EXPECT_EQ(nearest(std::string(100'000, 'p'), known), std::nullopt);
  EXPECT_EQ(suggestion("zzzzzz", known), "");
}

}  // namespace
}  // namespace sluice
