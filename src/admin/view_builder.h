#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "admin/views.h"

// How the tables of views are written: a list of columns per record type, each with its name, its help and
// where its value comes from, so that names and values cannot get out of step.
namespace sluice::admin {

inline Cell to_cell(std::int64_t value) {
  return value;
}
inline Cell to_cell(std::uint64_t value) {
  return static_cast<std::int64_t>(value);
}
inline Cell to_cell(bool value) {
  return value;
}
inline Cell to_cell(const std::string& value) {
  return value;
}
inline Cell to_cell(const ClassCounts& value) {
  return value;
}
inline Cell to_cell(WallTime value) {
  return time_text(value);
}
template <class Rep, class Period>
Cell to_cell(std::chrono::duration<Rep, Period> value) {
  return static_cast<std::int64_t>(value.count());
}
template <class T>
Cell to_cell(const std::optional<T>& value) {
  return value ? to_cell(*value) : Cell{};
}

template <class T>
struct ColumnTypeOf {
  static constexpr ColumnType value =
      std::is_integral_v<T> && !std::is_same_v<T, bool> ? ColumnType::Int8 : ColumnType::Text;
};
template <class Rep, class Period>
struct ColumnTypeOf<std::chrono::duration<Rep, Period>> {
  static constexpr ColumnType value = ColumnType::Int8;
};
template <class T>
struct ColumnTypeOf<std::optional<T>> : ColumnTypeOf<T> {};

template <class Record>
struct ColumnOf {
  Column column;
  std::function<Cell(const Record&, const ViewContext&)> get;
};

// A column that shows one member.
template <auto Member>
struct MemberRecord;
template <class Record_, class Field_, Field_ Record_::*Member>
struct MemberRecord<Member> {
  using Record = Record_;
  using Field = Field_;
};
template <auto Member>
ColumnOf<typename MemberRecord<Member>::Record> column(std::string_view name, std::string_view help = {}) {
  using Record = typename MemberRecord<Member>::Record;
  using Field = typename MemberRecord<Member>::Field;
  return {{name, ColumnTypeOf<Field>::value, help},
          [](const Record& record, const ViewContext&) { return to_cell(record.*Member); }};
}

// A column whose value is worked out.
template <class Record, class Get>
ColumnOf<Record> computed(std::string_view name, ColumnType type, std::string_view help, Get get) {
  return {{name, type, help},
          [get](const Record& record, const ViewContext&) -> Cell { return get(record); }};
}

// A column of PgBouncer's that has no meaning here and always shows the same.
template <class Record>
ColumnOf<Record> fixed(std::string_view name, Cell value) {
  const ColumnType type = std::holds_alternative<std::int64_t>(value) ? ColumnType::Int8 : ColumnType::Text;
  return {{name, type, "Always the same: kept for PgBouncer's tools."},
          [value](const Record&, const ViewContext&) { return value; }};
}

inline std::int64_t whole_seconds(Micros time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time).count();
}
inline std::int64_t rest_micros(Micros time) {
  return (time % std::chrono::seconds(1)).count();
}

// A view of one list of the snapshot, a row per record.
template <class Record>
View list_view(std::string_view name, std::string_view help, Part part, std::vector<Record> Snapshot::*list,
               std::vector<ColumnOf<Record>> columns) {
  View view{name, help, part, {}, {}};
  for (const ColumnOf<Record>& c : columns)
    view.columns.push_back(c.column);
  view.rows = [list, columns = std::move(columns)](const Snapshot& snapshot, const ViewContext& context) {
    std::vector<Row> rows;
    rows.reserve((snapshot.*list).size());
    for (const Record& record : snapshot.*list) {
      Row& row = rows.emplace_back();
      row.reserve(columns.size());
      for (const ColumnOf<Record>& c : columns)
        row.push_back(c.get(record, context));
    }
    return rows;
  };
  return view;
}

// The tables, one source file per family.
std::vector<View> pgbouncer_views();   // what PgBouncer has too: its columns in its order, then ours
std::vector<View> connection_views();  // clients, servers and their sockets
std::vector<View> stats_views();
std::vector<View> cluster_views();   // where the servers are
std::vector<View> process_views();   // memory, and what PgBouncer has and Sluice has none of
std::vector<View> size_views();      // what work is expected to be, and who takes which
std::vector<View> priority_views();  // replicas, classes, hosts, decisions

}  // namespace sluice::admin
