#include "protocol/frontend_messages.h"

#include "protocol/message_writer.h"

namespace sluice::protocol {
namespace {

void append_empty(Bytes& out, char type) {
  const MessageWriter message(out, type);
}

void append_with_data(Bytes& out, char type, ByteView data) {
  MessageWriter message(out, type);
  message.body().bytes(data);
}

void append_with_string(Bytes& out, char type, std::string_view text) {
  MessageWriter message(out, type);
  message.string(text);
}

void append_with_name(Bytes& out, char type, char kind, std::string_view name) {
  MessageWriter message(out, type);
  message.body().u8(static_cast<std::uint8_t>(kind));
  message.string(name);
}

void append_request(Bytes& out, std::uint32_t code) {
  MessageWriter message(out);
  message.body().u32(code);
}

}  // namespace

void append_startup_message(Bytes& out, std::span<const StartupParameter> parameters, std::uint32_t version) {
  MessageWriter message(out);
  message.body().u32(version);
  for (const auto& [name, value] : parameters) {
    message.string(name);
    message.string(value);
  }
  message.body().u8(0);
}

void append_ssl_request(Bytes& out) {
  append_request(out, kSslRequestCode);
}

void append_gss_enc_request(Bytes& out) {
  append_request(out, kGssEncRequestCode);
}

void append_cancel_request(Bytes& out, std::int32_t process_id, ByteView secret) {
  MessageWriter message(out);
  message.body().u32(kCancelRequestCode);
  message.body().i32(process_id);
  message.body().bytes(secret);
}

void append_password_message(Bytes& out, std::string_view password) {
  append_with_string(out, 'p', password);
}

void append_sasl_initial_response(Bytes& out, std::string_view mechanism, ByteView data) {
  MessageWriter message(out, 'p');
  message.string(mechanism);
  message.body().u32(static_cast<std::uint32_t>(data.size()));
  message.body().bytes(data);
}

void append_sasl_response(Bytes& out, ByteView data) {
  append_with_data(out, 'p', data);
}

void append_query(Bytes& out, std::string_view sql) {
  append_with_string(out, 'Q', sql);
}

void append_parse(Bytes& out, std::string_view statement, std::string_view sql) {
  MessageWriter message(out, 'P');
  message.string(statement);
  message.string(sql);
  message.body().u16(0);  // no parameter types given
}

void append_bind(Bytes& out, std::string_view portal, std::string_view statement) {
  MessageWriter message(out, 'B');
  message.string(portal);
  message.string(statement);
  message.body().u16(0);  // parameter formats
  message.body().u16(0);  // parameters
  message.body().u16(0);  // result formats
}

void append_describe(Bytes& out, char kind, std::string_view name) {
  append_with_name(out, 'D', kind, name);
}

void append_execute(Bytes& out, std::string_view portal, std::uint32_t rows_max) {
  MessageWriter message(out, 'E');
  message.string(portal);
  message.body().u32(rows_max);
}

void append_close(Bytes& out, char kind, std::string_view name) {
  append_with_name(out, 'C', kind, name);
}

void append_flush(Bytes& out) {
  append_empty(out, 'H');
}

void append_sync(Bytes& out) {
  append_empty(out, 'S');
}

void append_copy_data(Bytes& out, ByteView data) {
  append_with_data(out, 'd', data);
}

void append_copy_done(Bytes& out) {
  append_empty(out, 'c');
}

void append_copy_fail(Bytes& out, std::string_view reason) {
  append_with_string(out, 'f', reason);
}

void append_terminate(Bytes& out) {
  append_empty(out, 'X');
}

}  // namespace sluice::protocol
