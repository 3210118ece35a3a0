#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/bytes.h"

// Backend messages that Sluice itself sends: logins, the console, answers given in a server's place.
// Source: PostgreSQL manual, "Message Formats". Each function appends one whole message to `out`.
namespace sluice::protocol {

void append_authentication_ok(Bytes& out);
void append_authentication_cleartext(Bytes& out);
void append_authentication_md5(Bytes& out, const std::array<std::byte, 4>& salt);
void append_authentication_sasl(Bytes& out, std::span<const std::string_view> mechanisms);
void append_authentication_sasl_continue(Bytes& out, ByteView data);
void append_authentication_sasl_final(Bytes& out, ByteView data);

void append_parameter_status(Bytes& out, std::string_view name, std::string_view value);
// `secret`: exactly 4 bytes under protocol 3.0, 4 to 256 under 3.2.
void append_backend_key_data(Bytes& out, std::int32_t process_id, ByteView secret);
// `status`: I idle, T in a transaction block, E in a failed one.
void append_ready_for_query(Bytes& out, char status);
// `version` is the full number (0x00030000 for 3.0); `options` are the unknown _pq_. names, prefix included.
void append_negotiate_protocol_version(Bytes& out, std::uint32_t version,
                                       std::span<const std::string> options);

struct TextColumn {
  std::string name;
  std::uint32_t type_oid = 25;  // pg_type.oid; 25 = text
};
// Columns of a result in text format, at most 65535; more are left out.
void append_row_description(Bytes& out, std::span<const TextColumn> columns);
// One row in text format; nullopt is NULL.
void append_data_row(Bytes& out, std::span<const std::optional<std::string>> values);
void append_command_complete(Bytes& out, std::string_view tag);
void append_empty_query_response(Bytes& out);

// Any message: type byte, length, body as given.
void append_message(Bytes& out, char type, ByteView body);

}  // namespace sluice::protocol
