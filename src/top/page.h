#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "top/sample.h"

// The screen as text. Pure.
namespace sluice::top {

enum class Sort { Name, Sessions, Lag };  // of replicas; pools go by what fits it
enum class Style { Plain, Heading, Title, Warning };

struct Line {
  std::string text;  // no wider than asked for
  Style style = Style::Plain;
};

struct View {
  std::size_t columns = 80;
  std::size_t rows = 0;  // 0: as many as it takes
  Sort sort = Sort::Name;
  bool reversed = false;
  bool frozen = false;
  std::string where;    // "127.0.0.1:6432"
  std::string problem;  // why there is nothing newer; empty: all is well
};

// Rates are between `before` and `now`; without `before` they are "-".
std::vector<Line> page(const Sample& now, const std::optional<Sample>& before, const View& view);

std::string_view sort_name(Sort sort);
Sort next_sort(Sort sort);

// "950", "12.3k", "4.5M"; for rates and bytes.
std::string short_number(double value);
// "1.2 ms" of microseconds; "-" for none.
std::string short_time(std::optional<std::int64_t> microseconds);

}  // namespace sluice::top
