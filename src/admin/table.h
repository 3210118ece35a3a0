#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "admin/router_view.h"

namespace sluice::admin {

using Fields = std::vector<std::pair<std::string_view, std::string>>;  // field name, value
using FieldsList = std::vector<Fields>;

// One value of a view, kept as what it is: the console shows text, the HTTP interface JSON. monostate is
// NULL.
using Cell = std::variant<std::monostate, std::int64_t, bool, std::string, ClassCounts, FieldsList>;
using Row = std::vector<Cell>;

enum class ColumnType { Text, Int8 };

struct Column {
  std::string_view name;
  ColumnType type = ColumnType::Text;
  std::string_view help;  // for the reference page; empty where the name says it
};

// "yes" and "no", "premium=3,freemium=0", "replica=r4 from=mixed to=premium kind=borrow; ..."; NULL is empty.
std::string cell_text(const Cell& cell);

// "2026-11-29 19:20:23 UTC", as PgBouncer prints times; empty for the epoch, which stands for never.
std::string time_text(WallTime time);

}  // namespace sluice::admin
