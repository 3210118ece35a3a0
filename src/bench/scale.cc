#include "bench/scale.h"

namespace sluice::bench {
namespace {

constexpr std::int64_t kMillion = 1'000'000;
constexpr std::size_t kDecimals = 6;
constexpr std::int64_t kMax = 100'000 * kMillion;

}  // namespace

std::optional<Scale> Scale::parse(std::string_view text) {
  if (text.empty() || text.size() > 16 || text.front() == '.' || text.back() == '.') return std::nullopt;
  Scale scale;
  scale.text_ = text;
  std::int64_t value = 0;
  std::optional<std::size_t> decimals;  // seen so far, once there was a point
  for (const char c : text) {
    if (c == '.' && !decimals) {
      decimals = 0;
      continue;
    }
    if (c < '0' || c > '9' || (decimals && ++*decimals > kDecimals) || value > kMax) return std::nullopt;
    value = value * 10 + (c - '0');
  }
  for (std::size_t i = decimals.value_or(0); i < kDecimals; ++i) {
    if (value > kMax) return std::nullopt;
    value *= 10;
  }
  if (value < 1 || value > kMax) return std::nullopt;
  scale.millionths_ = value;
  return scale;
}

std::optional<std::int64_t> Scale::times(std::int64_t count) const noexcept {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(count, millionths_, &product)) return std::nullopt;
  return product / kMillion;
}

}  // namespace sluice::bench
