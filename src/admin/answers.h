#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "admin/sql_tokens.h"
#include "admin/table.h"
#include "base/bytes.h"

// Backend messages of a console session, appended to bytes. Names and layout: the PostgreSQL manual, "Message
// Formats".
namespace sluice::admin {

enum class Format : std::int16_t { Text = 0, Binary = 1 };

// The client has asked for a format per column, or one for all, or none: text.
class Formats {
 public:
  Formats() = default;
  explicit Formats(std::vector<Format> formats) : formats_(std::move(formats)) {}
  std::size_t size() const noexcept { return formats_.size(); }
  Format of(std::size_t column) const noexcept;

 private:
  std::vector<Format> formats_;
};

struct ResultColumn {
  std::string_view name;
  ColumnType type = ColumnType::Text;
};

void append_row_description(Bytes& out, std::span<const ResultColumn> columns, const Formats& formats);
void append_data_row(Bytes& out, const Row& row, const Formats& formats);
// Messages without a body: ParseComplete '1', BindComplete '2', CloseComplete '3', NoData 'n',
// PortalSuspended 's', EmptyQueryResponse 'I'.
void append_bare(Bytes& out, char type);
void append_no_parameters(Bytes& out);  // ParameterDescription of none

// 'E' with severity ERROR or FATAL, 'N' with WARNING or NOTICE.
void append_report(Bytes& out, char type, std::string_view severity, const SqlError& report);

}  // namespace sluice::admin
