#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::top {

// The answer to one SHOW: values by column, as text; no value is NULL.
class Table {
 public:
  Table() = default;
  explicit Table(std::vector<std::string> columns) : columns_(std::move(columns)) {}
  void add_row(std::vector<std::optional<std::string>> row);  // as wide as the columns

  std::size_t size() const noexcept { return rows_.size(); }
  // "" for NULL and for a column that this version of the router does not have.
  std::string_view text(std::size_t row, std::string_view column) const;
  std::optional<std::int64_t> number(std::size_t row, std::string_view column) const;
  std::int64_t count(std::size_t row, std::string_view column) const {
    return number(row, column).value_or(0);
  }
  // The sum of a column.
  std::int64_t sum(std::string_view column) const;
  // The value in `value_column` of the row whose `key_column` is `key`; "" without one.
  std::string_view find(std::string_view key_column, std::string_view key,
                        std::string_view value_column) const;

 private:
  std::optional<std::size_t> index(std::string_view column) const;
  std::vector<std::string> columns_;
  std::vector<std::vector<std::optional<std::string>>> rows_;
};

// All that one refresh asks for. One query with these statements, in this order.
inline constexpr std::string_view kQuestions =
    "SHOW VERSION; SHOW STATE; SHOW REPLICAS; SHOW CLASSES; SHOW POOLS; SHOW STATS_TOTALS; SHOW LISTS";
inline constexpr std::size_t kQuestionCount = 7;

struct Sample {
  std::chrono::steady_clock::time_point taken_at{};
  Table version, state, replicas, classes, pools, stats, lists;
};

// From the answers in the order of the questions; nullopt where one is missing.
std::optional<Sample> make_sample(std::vector<Table> answers, std::chrono::steady_clock::time_point now);

// "premium=3,freemium=0" as pairs, in its order. What is no count is left out.
std::vector<std::pair<std::string, std::int64_t>> parse_counts(std::string_view text);

}  // namespace sluice::top
