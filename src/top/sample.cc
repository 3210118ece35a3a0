#include "top/sample.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace sluice::top {
namespace {}  // namespace

void Table::add_row(std::vector<std::optional<std::string>> row) {
  row.resize(columns_.size());
  rows_.push_back(std::move(row));
}

std::optional<std::size_t> Table::index(std::string_view column) const {
  const auto found = std::find(columns_.begin(), columns_.end(), column);
  if (found == columns_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - columns_.begin());
}

std::string_view Table::text(std::size_t row, std::string_view column) const {
  const auto at = index(column);
  if (!at || row >= rows_.size() || !rows_[row][*at]) return {};
  return *rows_[row][*at];
}

std::optional<std::int64_t> Table::number(std::size_t row, std::string_view column) const {
  return to_number<std::int64_t>(text(row, column));
}

std::int64_t Table::sum(std::string_view column) const {
  std::int64_t total = 0;
  for (std::size_t row = 0; row < rows_.size(); ++row)
    total += count(row, column);
  return total;
}

std::string_view Table::find(std::string_view key_column, std::string_view key,
                             std::string_view value_column) const {
  for (std::size_t row = 0; row < rows_.size(); ++row)
    if (text(row, key_column) == key) return text(row, value_column);
  return {};
}

std::optional<Sample> make_sample(std::vector<Table> answers, std::chrono::steady_clock::time_point now) {
  if (answers.size() != kQuestionCount) return std::nullopt;
  Sample sample;
  sample.taken_at = now;
  auto next = answers.begin();
  for (Table* const table : {&sample.version, &sample.state, &sample.replicas, &sample.classes, &sample.pools,
                             &sample.stats, &sample.lists})
    *table = std::move(*next++);
  return sample;
}

std::vector<std::pair<std::string, std::int64_t>> parse_counts(std::string_view text) {
  std::vector<std::pair<std::string, std::int64_t>> counts;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string_view word = text.substr(0, comma);
    // A name may hold anything but the last =.
    const std::size_t equals = word.rfind('=');
    if (equals != word.npos)
      if (const auto value = to_number<std::int64_t>(word.substr(equals + 1)))
        counts.emplace_back(std::string(word.substr(0, equals)), *value);
    text = comma == text.npos ? std::string_view() : text.substr(comma + 1);
  }
  return counts;
}

}  // namespace sluice::top
