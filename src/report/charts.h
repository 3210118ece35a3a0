#pragma once

#include <string>
#include <utility>
#include <vector>

#include "report/report.h"

namespace sluice::report {

Chart chart_of(std::string x_name, std::string y_name, Scale x_scale, Scale y_scale);

// Gathers points: one goes to the series of its name in the chart of its title, both in the order in which
// they come first.
class Charts {
 public:
  explicit Charts(Chart like) : like_(std::move(like)) {}

  void add(const std::string& title, const std::string& series, double x, double y);
  const std::vector<Chart>& all() const noexcept { return charts_; }

 private:
  Chart like_;  // each chart but for its title and its series
  std::vector<Chart> charts_;
};

}  // namespace sluice::report
