#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sluice/stats/interval.h"

namespace sluice::sim {

// Rows of cells, for people and for programs. The first row is the header; every row is as long as it is.
class Table {
 public:
  explicit Table(std::vector<std::string> header) : rows_{std::move(header)} {}
  void add(std::vector<std::string> row);

  const std::vector<std::vector<std::string>>& rows() const noexcept { return rows_; }
  std::string text() const;  // columns two blanks apart; cells that begin like a number stand to the right
  std::string csv() const;   // RFC 4180, lines end in \n

 private:
  std::vector<std::vector<std::string>> rows_;
};

// A number with so many significant digits, without an exponent up to three digits more: "0.0705", "416612",
// "2.793e+08"; "inf"; "" for what is not a number.
std::string digits(double value, int significant = 4);
// With half the width of the interval: "12.34 +-0.56"; "-" without one.
std::string estimate(const std::optional<stats::Interval>& interval);
// A change in per cent with its sign: "+3.1%".
std::string percent(double ratio);

}  // namespace sluice::sim
