#pragma once

#include <optional>
#include <string>
#include <vector>

namespace sluice::report {

// One line or cloud of points. x and y are as long as each other; what is not finite is left out.
struct Series {
  std::string name;
  std::vector<double> x, y;
};

enum class Scale { Linear, Log };

struct Chart {
  std::string title;
  std::string x_name, y_name;
  Scale x_scale = Scale::Linear, y_scale = Scale::Linear;  // Log: what is not above 0 is left out
  bool points = false;                                     // without lines between them
  std::vector<Series> series;
};

struct Section {
  std::string heading;
  std::vector<std::string> paragraphs;
  std::vector<Chart> charts;
  std::vector<std::vector<std::string>> table;  // the first row is the header; empty: none
};

struct Report {
  std::string title;
  std::string command;  // that made it
  std::vector<Section> sections;
};

// One self-contained page. Texts may hold anything; what is not valid UTF-8 is replaced.
std::string page(const Report&);

}  // namespace sluice::report
