#include "report/charts.h"

#include <algorithm>
#include <utility>

namespace sluice::report {
namespace {

template <class T>
T& at(std::vector<T>& list, std::string T::*name, const std::string& wanted, T otherwise) {
  const auto found = std::find_if(list.begin(), list.end(), [&](const T& t) { return t.*name == wanted; });
  if (found != list.end()) return *found;
  otherwise.*name = wanted;
  return list.emplace_back(std::move(otherwise));
}

}  // namespace

Chart chart_of(std::string x_name, std::string y_name, Scale x_scale, Scale y_scale) {
  Chart chart;
  chart.x_name = std::move(x_name);
  chart.y_name = std::move(y_name);
  chart.x_scale = x_scale;
  chart.y_scale = y_scale;
  return chart;
}

void Charts::add(const std::string& title, const std::string& series, double x, double y) {
  Chart& chart = at(charts_, &Chart::title, title, like_);
  Series& one = at(chart.series, &Series::name, series, {});
  one.x.push_back(x);
  one.y.push_back(y);
}

}  // namespace sluice::report
