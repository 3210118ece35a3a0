#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sluice {

// An exact decimal in [0, 1], such as a return ratio: 0.29 of 100 is 29, where binary floating point says 28.
// Shape:  at most 9 digits after the point; "0.6" and "0.60" are equal.
class Ratio {
 public:
  static constexpr std::int64_t kUnit = 1'000'000'000;

  constexpr Ratio() = default;

  // Reads "0", "1", "0.60", ".5" or "1.000"; nullopt for anything else: signs, exponents, blanks, more than
  // nine decimals, more than 1.
  static constexpr std::optional<Ratio> parse(std::string_view text) noexcept {
    const std::size_t point = text.find('.');
    const std::string_view whole = text.substr(0, point);
    const std::string_view decimals = point == text.npos ? std::string_view() : text.substr(point + 1);
    if (whole.size() + decimals.size() == 0 || whole.size() > 9 || decimals.size() > 9) return std::nullopt;
    if (point != text.npos && decimals.empty()) return std::nullopt;
    std::int64_t billionths = 0;
    for (const char digit : whole) {
      if (digit < '0' || digit > '9') return std::nullopt;
      billionths = billionths * 10 + (digit - '0');
    }
    if (billionths > 1) return std::nullopt;
    for (std::size_t i = 0; i < 9; ++i) {
      const char digit = i < decimals.size() ? decimals[i] : '0';
      if (digit < '0' || digit > '9') return std::nullopt;
      billionths = billionths * 10 + (digit - '0');
    }
    if (billionths > kUnit) return std::nullopt;
    return Ratio(billionths);
  }

  // floor(ratio * whole), exact. 0 <= whole <= 9'000'000'000.
  constexpr std::int64_t floor_of(std::int64_t whole) const noexcept { return billionths_ * whole / kUnit; }

  // The shortest decimal with at least two digits after the point: "0.60", "1.00", "0.125".
  std::string to_string() const {
    std::string digits = std::to_string(kUnit + billionths_ % kUnit).substr(1);
    while (digits.size() > 2 && digits.back() == '0')
      digits.pop_back();
    return std::to_string(billionths_ / kUnit) + '.' + digits;
  }

  friend constexpr auto operator<=>(Ratio, Ratio) = default;

 private:
  constexpr explicit Ratio(std::int64_t billionths) : billionths_(billionths) {}

  std::int64_t billionths_ = 0;
};

}  // namespace sluice
