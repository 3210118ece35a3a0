#include "protocol/backend_messages.h"

#include <algorithm>

#include "protocol/message_writer.h"

namespace sluice::protocol {
namespace {

enum class Authentication : std::uint32_t {
  Ok = 0,
  CleartextPassword = 3,
  Md5Password = 5,
  Sasl = 10,
  SaslContinue = 11,
  SaslFinal = 12,
};

void append_authentication(Bytes& out, Authentication kind, ByteView data) {
  MessageWriter message(out, 'R');
  message.body().u32(static_cast<std::uint32_t>(kind));
  message.body().bytes(data);
}

// pg_type.typlen of the fixed-size types that the console shows; every other one is sent as of variable size.
std::uint16_t type_size(std::uint32_t oid) noexcept {
  switch (oid) {
    case 16:  // bool
      return 1;
    case 23:  // int4
      return 4;
    case 20:   // int8
    case 701:  // float8
      return 8;
    default:
      return 0xFFFF;  // -1
  }
}

constexpr std::size_t kColumnsMax = 0xFFFF;

}  // namespace

void append_authentication_ok(Bytes& out) {
  append_authentication(out, Authentication::Ok, {});
}

void append_authentication_cleartext(Bytes& out) {
  append_authentication(out, Authentication::CleartextPassword, {});
}

void append_authentication_md5(Bytes& out, const std::array<std::byte, 4>& salt) {
  append_authentication(out, Authentication::Md5Password, salt);
}

void append_authentication_sasl(Bytes& out, std::span<const std::string_view> mechanisms) {
  MessageWriter message(out, 'R');
  message.body().u32(static_cast<std::uint32_t>(Authentication::Sasl));
  for (const std::string_view mechanism : mechanisms)
    message.string(mechanism);
  message.body().u8(0);
}

void append_authentication_sasl_continue(Bytes& out, ByteView data) {
  append_authentication(out, Authentication::SaslContinue, data);
}

void append_authentication_sasl_final(Bytes& out, ByteView data) {
  append_authentication(out, Authentication::SaslFinal, data);
}

void append_parameter_status(Bytes& out, std::string_view name, std::string_view value) {
  MessageWriter message(out, 'S');
  message.string(name);
  message.string(value);
}

void append_backend_key_data(Bytes& out, std::int32_t process_id, ByteView secret) {
  MessageWriter message(out, 'K');
  message.body().i32(process_id);
  message.body().bytes(secret);
}

void append_ready_for_query(Bytes& out, char status) {
  MessageWriter message(out, 'Z');
  message.body().u8(static_cast<std::uint8_t>(status));
}

void append_negotiate_protocol_version(Bytes& out, std::uint32_t version,
                                       std::span<const std::string> options) {
  MessageWriter message(out, 'v');
  message.body().u32(version);
  message.body().u32(static_cast<std::uint32_t>(options.size()));
  for (const std::string& option : options)
    message.string(option);
}

void append_row_description(Bytes& out, std::span<const TextColumn> columns) {
  columns = columns.first(std::min(columns.size(), kColumnsMax));
  MessageWriter message(out, 'T');
  message.body().u16(static_cast<std::uint16_t>(columns.size()));
  for (const TextColumn& column : columns) {
    message.string(column.name);
    message.body().u32(0);  // of no table
    message.body().u16(0);
    message.body().u32(column.type_oid);
    message.body().u16(type_size(column.type_oid));
    message.body().i32(-1);  // no type modifier
    message.body().u16(0);   // text format
  }
}

void append_data_row(Bytes& out, std::span<const std::optional<std::string>> values) {
  values = values.first(std::min(values.size(), kColumnsMax));
  MessageWriter message(out, 'D');
  message.body().u16(static_cast<std::uint16_t>(values.size()));
  for (const std::optional<std::string>& value : values) {
    if (!value) {
      message.body().i32(-1);
      continue;
    }
    message.body().u32(static_cast<std::uint32_t>(value->size()));
    message.body().text(*value);
  }
}

void append_command_complete(Bytes& out, std::string_view tag) {
  MessageWriter message(out, 'C');
  message.string(tag);
}

void append_empty_query_response(Bytes& out) {
  append_message(out, 'I', {});
}

void append_message(Bytes& out, char type, ByteView body) {
  MessageWriter message(out, type);
  message.body().bytes(body);
}

}  // namespace sluice::protocol
