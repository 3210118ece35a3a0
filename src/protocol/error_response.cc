#include "protocol/error_response.h"

#include <string_view>

#include "protocol/message_writer.h"

namespace sluice::protocol {
namespace {

void append_fields(Bytes& out, char type, const ErrorFields& fields) {
  MessageWriter message(out, type);
  const auto field = [&message](char code, std::string_view value) {
    message.body().u8(static_cast<std::uint8_t>(code));
    message.string(value);
  };
  field('S', fields.severity);
  field('V', fields.severity);
  field('C', fields.sqlstate);
  field('M', fields.message);
  if (!fields.detail.empty()) field('D', fields.detail);
  if (!fields.hint.empty()) field('H', fields.hint);
  message.body().u8(0);
}

}  // namespace

void append_error_response(Bytes& out, const ErrorFields& fields) {
  append_fields(out, 'E', fields);
}

void append_notice_response(Bytes& out, const ErrorFields& fields) {
  append_fields(out, 'N', fields);
}

ErrorFields parse_error_fields(ByteView body) {
  ErrorFields fields;
  std::string_view localized_severity;
  ByteReader in(body);
  while (const auto code = in.u8()) {
    if (*code == 0) break;
    const auto value = in.cstring();
    if (!value) break;
    switch (*code) {
      case 'S':
        localized_severity = *value;
        break;
      case 'V':
        fields.severity = *value;
        break;
      case 'C':
        fields.sqlstate = *value;
        break;
      case 'M':
        fields.message = *value;
        break;
      case 'D':
        fields.detail = *value;
        break;
      case 'H':
        fields.hint = *value;
        break;
      default:
        break;
    }
  }
  if (fields.severity.empty()) fields.severity = localized_severity;
  return fields;
}

}  // namespace sluice::protocol
