#include "pooling/pin_reason.h"

#include <set>
#include <string_view>

#include <gtest/gtest.h>

namespace sluice::pooling {
namespace {

TEST(PinReason, HasADistinctNameForEach) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < kPinReasonCount; ++i)
    names.insert(name(static_cast<PinReason>(i)));
  EXPECT_EQ(names.size(), kPinReasonCount);
  EXPECT_FALSE(names.contains(""));
}

TEST(PinReasons, HoldWhatWasAdded) {
  PinReasons reasons;
  EXPECT_TRUE(reasons.empty());
  EXPECT_EQ(reasons.first(), std::nullopt);
  reasons.add(PinReason::LargeQuery);
  reasons.add(PinReason::HoldCursor);
  EXPECT_EQ(reasons.first(), PinReason::HoldCursor);
  EXPECT_TRUE(reasons.contains(PinReason::LargeQuery));
  EXPECT_FALSE(reasons.contains(PinReason::Set));
  reasons.remove(PinReason::HoldCursor);
  EXPECT_EQ(reasons.first(), PinReason::LargeQuery);
}

}  // namespace
}  // namespace sluice::pooling
