#include "admin/answers.h"

#include <string>

#include "admin/text.h"
#include "protocol/backend_messages.h"
#include "protocol/error_response.h"
#include "protocol/message_writer.h"

namespace sluice::admin {

using protocol::MessageWriter;

namespace {

constexpr std::uint32_t kTextOid = 25;  // pg_type.dat
constexpr std::uint32_t kInt8Oid = 20;

}  // namespace

Format Formats::of(std::size_t column) const noexcept {
  if (formats_.empty()) return Format::Text;
  return formats_.size() == 1 ? formats_[0] : formats_[column];
}

void append_row_description(Bytes& out, std::span<const ResultColumn> columns, const Formats& formats) {
  MessageWriter message(out, 'T');
  message.body().u16(static_cast<std::uint16_t>(columns.size()));
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const bool int8 = columns[i].type == ColumnType::Int8;
    message.string(columns[i].name);
    message.body().u32(0);  // no table
    message.body().u16(0);  // no column of one
    message.body().u32(int8 ? kInt8Oid : kTextOid);
    message.body().u16(int8 ? std::uint16_t{8} : std::uint16_t{0xFFFF});  // -1: variable length
    message.body().i32(-1);                                               // no type modifier
    message.body().u16(static_cast<std::uint16_t>(formats.of(i)));
  }
}

void append_data_row(Bytes& out, const Row& row, const Formats& formats) {
  MessageWriter message(out, 'D');
  message.body().u16(static_cast<std::uint16_t>(row.size()));
  for (std::size_t i = 0; i < row.size(); ++i) {
    const auto* number = std::get_if<std::int64_t>(&row[i]);
    if (std::holds_alternative<std::monostate>(row[i])) {
      message.body().i32(-1);
    } else if (number != nullptr && formats.of(i) == Format::Binary) {
      message.body().u32(8);
      message.body().u32(static_cast<std::uint32_t>(static_cast<std::uint64_t>(*number) >> 32));
      message.body().u32(static_cast<std::uint32_t>(*number));
    } else {
      const std::string text = cell_text(row[i]);
      message.body().u32(static_cast<std::uint32_t>(text.size()));
      message.body().text(text);
    }
  }
}

void append_bare(Bytes& out, char type) {
  protocol::append_message(out, type, {});
}

void append_no_parameters(Bytes& out) {
  MessageWriter(out, 't').body().u16(0);
}

void append_report(Bytes& out, char type, std::string_view severity, const SqlError& report) {
  const protocol::ErrorFields fields{std::string(severity), report.sqlstate, displayable(report.message),
                                     displayable(report.detail), displayable(report.hint)};
  if (type == 'E') {
    protocol::append_error_response(out, fields);
  } else {
    protocol::append_notice_response(out, fields);
  }
}

}  // namespace sluice::admin
