#include "base/byte_set.h"

#include <string_view>

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(ByteSet, HasWhatItWasMadeOfAndNothingElse) {
  constexpr std::string_view kBytes("a\0Z\x7f\x80\xff", 6);
  constexpr ByteSet kSet(kBytes);
  for (int byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    EXPECT_EQ(kSet.has(c), kBytes.find(c) != std::string_view::npos) << byte;
  }
}

}  // namespace
}  // namespace sluice
