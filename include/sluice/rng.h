#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace sluice {

// Small deterministic generator: the same seed gives the same numbers on every machine, which <random>'s
// distributions do not promise. Source: Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators",
// OOPSLA 2014, SplitMix64.
class Rng {
 public:
  explicit Rng(std::uint64_t seed) noexcept : state_(seed) {}

  std::uint64_t next() noexcept {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }

  // Uniform in [0, bound), bound >= 1. Values of the incomplete last stretch of 2^64 are drawn again, so no
  // bias.
  std::uint64_t below(std::uint64_t bound) noexcept {
    const std::uint64_t unusable = (0 - bound) % bound;  // 2^64 mod bound
    std::uint64_t draw = next();
    while (draw < unusable)
      draw = next();
    return draw % bound;
  }

  // Uniform in [0, 1), a multiple of 2^-53.
  double unit() noexcept { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

 private:
  std::uint64_t state_;
};

// Every order of the elements is as likely as any other (Fisher and Yates). Range: random access.
template <class Range>
void shuffle(Range& range, Rng& rng) {
  for (std::size_t i = range.size(); i > 1; --i)
    std::swap(range[i - 1], range[rng.below(i)]);
}

}  // namespace sluice
