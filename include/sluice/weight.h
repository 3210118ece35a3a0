#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sluice {

// An exact decimal from 0.001 to 1000 with at most three digits after the point: how much one thing counts
// beside others. Exact, so that shares that are equal on paper are equal here, and ties are ties.
class Weight {
 public:
  static constexpr std::int64_t kUnit = 1'000;
  static constexpr std::int64_t kThousandthsMax = 1'000 * kUnit;

  constexpr Weight() = default;  // 1

  // 1 <= thousandths <= kThousandthsMax, else nullopt.
  static constexpr std::optional<Weight> of_thousandths(std::int64_t thousandths) noexcept {
    if (thousandths < 1 || thousandths > kThousandthsMax) return std::nullopt;
    return Weight(thousandths);
  }
  // The nearest there is; not a number is 0.001.
  static constexpr Weight nearest(double value) noexcept {
    const double thousandths = value * static_cast<double>(kUnit) + 0.5;
    if (!(thousandths >= 1)) return Weight(1);
    if (thousandths >= static_cast<double>(kThousandthsMax)) return Weight(kThousandthsMax);
    return Weight(static_cast<std::int64_t>(thousandths));
  }
  // Reads "2", "1.5", ".25" or "1.000"; nullopt for anything else: signs, exponents, blanks, more digits, 0.
  static constexpr std::optional<Weight> parse(std::string_view text) noexcept {
    const std::size_t point = text.find('.');
    const std::string_view whole = text.substr(0, point);
    const std::string_view decimals = point == text.npos ? std::string_view() : text.substr(point + 1);
    if (whole.size() + decimals.size() == 0 || whole.size() > 9 || decimals.size() > 3) return std::nullopt;
    if (point != text.npos && decimals.empty()) return std::nullopt;
    std::int64_t thousandths = 0;
    for (std::size_t i = 0; i < whole.size() + 3; ++i) {
      const std::size_t after = i - whole.size();
      const char digit = i < whole.size() ? whole[i] : after < decimals.size() ? decimals[after] : '0';
      if (digit < '0' || digit > '9') return std::nullopt;
      thousandths = thousandths * 10 + (digit - '0');
    }
    return of_thousandths(thousandths);
  }

  constexpr std::int64_t thousandths() const noexcept { return thousandths_; }
  constexpr double value() const noexcept { return static_cast<double>(thousandths_) / kUnit; }

  // The shortest decimal: "2", "1.5", "0.125".
  std::string to_string() const {
    std::string text = std::to_string(thousandths_ / kUnit);
    if (thousandths_ % kUnit == 0) return text;
    text += '.' + std::to_string(kUnit + thousandths_ % kUnit).substr(1);
    while (text.back() == '0')
      text.pop_back();
    return text;
  }

  friend constexpr auto operator<=>(Weight, Weight) = default;

 private:
  constexpr explicit Weight(std::int64_t thousandths) : thousandths_(thousandths) {}

  std::int64_t thousandths_ = kUnit;
};

}  // namespace sluice
