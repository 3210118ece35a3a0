#include "sim/table.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/assert.h"
#include "base/csv.h"

namespace sluice::sim {
namespace {

bool numeric(const std::string& cell) {
  return cell.empty() || cell == "inf" || cell == "-" ||
         std::string("+-.0123456789").find(cell[0]) != std::string::npos;
}

}  // namespace

void Table::add(std::vector<std::string> row) {
  SLUICE_ASSERT(row.size() == rows_.front().size());
  rows_.push_back(std::move(row));
}

std::string Table::text() const {
  const std::size_t columns = rows_.front().size();
  std::vector<std::size_t> width(columns, 0);
  std::vector<bool> right(columns, true);
  for (std::size_t r = 0; r < rows_.size(); ++r)
    for (std::size_t c = 0; c < columns; ++c) {
      width[c] = std::max(width[c], rows_[r][c].size());
      if (r > 0 && !numeric(rows_[r][c])) right[c] = false;
    }
  std::string out;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t c = 0; c < columns; ++c) {
      const std::string blanks(width[c] - row[c].size(), ' ');
      line += (c > 0 ? "  " : "") + (right[c] ? blanks + row[c] : row[c] + blanks);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  }
  return out;
}

std::string Table::csv() const {
  std::string out;
  for (const auto& row : rows_) {
    for (std::size_t c = 0; c < row.size(); ++c)
      out += (c > 0 ? "," : "") + csv_cell(row[c]);
    out += '\n';
  }
  return out;
}

std::string digits(double value, int significant) {
  if (std::isnan(value)) return "";
  char text[64];
  const double size = std::fabs(value);
  if (size >= std::pow(10, significant) && size < std::pow(10, significant + 3))
    std::snprintf(text, sizeof text, "%.0f", value);
  else
    std::snprintf(text, sizeof text, "%.*g", significant, value);
  return text;
}

std::string estimate(const std::optional<stats::Interval>& interval) {
  if (!interval) return "-";
  return digits(interval->estimate) + " +-" + digits((interval->high - interval->low) / 2, 2);
}

std::string percent(double ratio) {
  if (std::isnan(ratio)) return "";
  char text[64];
  std::snprintf(text, sizeof text, "%+.1f%%", 100 * ratio);
  return text;
}

}  // namespace sluice::sim
