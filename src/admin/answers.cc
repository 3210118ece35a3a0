#include "admin/answers.h"

#include <string>

#include "admin/text.h"

namespace sluice::admin {
namespace {

constexpr std::uint32_t kTextOid = 25;  // pg_type.dat
constexpr std::uint32_t kInt8Oid = 20;

// One message: the length, which counts itself, is filled in at the end.
class Message {
 public:
  Message(Bytes& out, char type) : out_(out), writer_(out) {
    writer_.u8(static_cast<std::uint8_t>(type));
    length_at_ = out.size();
    writer_.u32(0);
  }
  Message(const Message&) = delete;
  Message& operator=(const Message&) = delete;
  ~Message() { writer_.patch_u32(length_at_, static_cast<std::uint32_t>(out_.size() - length_at_)); }
  ByteWriter* operator->() noexcept { return &writer_; }

 private:
  Bytes& out_;
  ByteWriter writer_;
  std::size_t length_at_ = 0;
};

}  // namespace

Format Formats::of(std::size_t column) const noexcept {
  if (formats_.empty()) return Format::Text;
  return formats_.size() == 1 ? formats_[0] : formats_[column];
}

void append_parameter_status(Bytes& out, std::string_view name, std::string_view value) {
  Message message(out, 'S');
  message->cstring(name);
  message->cstring(value);
}

void append_ready_for_query(Bytes& out, char transaction_status) {
  Message(out, 'Z')->u8(static_cast<std::uint8_t>(transaction_status));
}

void append_row_description(Bytes& out, std::span<const ResultColumn> columns, const Formats& formats) {
  Message message(out, 'T');
  message->u16(static_cast<std::uint16_t>(columns.size()));
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const bool int8 = columns[i].type == ColumnType::Int8;
    message->cstring(columns[i].name);
    message->u32(0);  // no table
    message->u16(0);  // no column of one
    message->u32(int8 ? kInt8Oid : kTextOid);
    message->u16(int8 ? std::uint16_t{8} : std::uint16_t{0xFFFF});  // -1: variable length
    message->i32(-1);                                               // no type modifier
    message->u16(static_cast<std::uint16_t>(formats.of(i)));
  }
}

void append_data_row(Bytes& out, const Row& row, const Formats& formats) {
  Message message(out, 'D');
  message->u16(static_cast<std::uint16_t>(row.size()));
  for (std::size_t i = 0; i < row.size(); ++i) {
    const auto* number = std::get_if<std::int64_t>(&row[i]);
    if (std::holds_alternative<std::monostate>(row[i])) {
      message->i32(-1);
    } else if (number != nullptr && formats.of(i) == Format::Binary) {
      message->u32(8);
      message->u32(static_cast<std::uint32_t>(static_cast<std::uint64_t>(*number) >> 32));
      message->u32(static_cast<std::uint32_t>(*number));
    } else {
      const std::string text = cell_text(row[i]);
      message->u32(static_cast<std::uint32_t>(text.size()));
      message->text(text);
    }
  }
}

void append_command_complete(Bytes& out, std::string_view tag) {
  Message(out, 'C')->cstring(tag);
}

void append_bare(Bytes& out, char type) {
  Message(out, type);
}

void append_no_parameters(Bytes& out) {
  Message(out, 't')->u16(0);
}

void append_report(Bytes& out, char type, std::string_view severity, const SqlError& report) {
  Message message(out, type);
  const auto field = [&message](char code, std::string_view value) {
    if (value.empty()) return;
    message->u8(static_cast<std::uint8_t>(code));
    message->cstring(displayable(value));
  };
  field('S', severity);
  field('V', severity);
  field('C', report.sqlstate);
  field('M', report.message);
  field('D', report.detail);
  field('H', report.hint);
  message->u8(0);
}

}  // namespace sluice::admin
