#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sluice::bench {

// The scale of a workload's data, an exact decimal: how a person wrote it, and how many rows that makes.
class Scale {
 public:
  Scale() = default;  // 1
  // Digits, with at most six behind a point, from 0.000001 to 100000; nullopt for anything else.
  static std::optional<Scale> parse(std::string_view text);

  const std::string& text() const noexcept { return text_; }
  // The whole part of count * scale, exact; nullopt when it does not fit. count >= 0.
  std::optional<std::int64_t> times(std::int64_t count) const noexcept;

  friend bool operator==(const Scale&, const Scale&) = default;

 private:
  std::string text_ = "1";
  std::int64_t millionths_ = 1'000'000;
};

}  // namespace sluice::bench
