#pragma once

#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace sluice::telemetry {

// Upper bounds of histogram buckets, inclusive, in nanoseconds: 1, 1.5, 2, 3, 5, 7 in each decade from 10 us
// to 70 s, and 100 s. One more bucket takes what is above.
inline constexpr std::size_t kBounds = 43;
inline constexpr std::size_t kBuckets = kBounds + 1;
inline constexpr std::array<std::uint64_t, kBounds> kBoundsNs = [] {
  constexpr std::array<std::uint64_t, 6> steps = {10, 15, 20, 30, 50, 70};
  std::array<std::uint64_t, kBounds> bounds{};
  std::uint64_t decade = 1'000;  // steps are tenths of 10 us
  for (std::size_t i = 0; i < kBounds; ++i) {
    bounds[i] = steps[i % 6] * decade;
    if (i % 6 == 5) decade *= 10;
  }
  return bounds;
}();

namespace detail {
// For each bit width w: the first bucket that may hold a value in [2^(w-1), 2^w).
inline constexpr std::array<std::uint8_t, 65> kFirstBucket = [] {
  std::array<std::uint8_t, 65> first{};
  for (std::size_t width = 0; width <= 64; ++width) {
    const std::uint64_t least = width == 0 ? 0 : std::uint64_t{1} << (width - 1);
    std::uint8_t bucket = 0;
    while (bucket < kBounds && kBoundsNs[bucket] < least)
      ++bucket;
    first[width] = bucket;
  }
  return first;
}();
// Two bounds beyond the last that no value passes, so that bucket_of() needs no check.
inline constexpr std::array<std::uint64_t, kBounds + 2> kPaddedBoundsNs = [] {
  std::array<std::uint64_t, kBounds + 2> padded{};
  for (std::size_t i = 0; i < kBounds; ++i)
    padded[i] = kBoundsNs[i];
  padded[kBounds] = padded[kBounds + 1] = ~std::uint64_t{0};
  return padded;
}();
}  // namespace detail

// The bucket of a duration, negative ones counting as 0. No loop and no branch: a factor of two holds at most
// two bounds.
constexpr std::size_t bucket_of(std::uint64_t ns) noexcept {
  const std::size_t first = detail::kFirstBucket[static_cast<std::size_t>(std::bit_width(ns))];
  return first + static_cast<std::size_t>(ns > detail::kPaddedBoundsNs[first]) +
         static_cast<std::size_t>(ns > detail::kPaddedBoundsNs[first + 1]);
}
constexpr std::uint64_t as_ns(std::chrono::nanoseconds d) noexcept {
  return d.count() > 0 ? static_cast<std::uint64_t>(d.count()) : 0;
}

}  // namespace sluice::telemetry
