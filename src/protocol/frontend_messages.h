#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/bytes.h"

// Frontend messages that Sluice sends to servers (and tests to Sluice).
// Source: PostgreSQL manual, "Message Formats". Each function appends one whole message to `out`.
// A string ends at its first zero byte.
namespace sluice::protocol {

inline constexpr std::uint32_t kProtocol30 = 0x00030000;
inline constexpr std::uint32_t kProtocol32 = 0x00030002;
inline constexpr std::uint32_t kCancelRequestCode = 80877102;
inline constexpr std::uint32_t kSslRequestCode = 80877103;
inline constexpr std::uint32_t kGssEncRequestCode = 80877104;

using StartupParameter = std::pair<std::string, std::string>;  // name, value

void append_startup_message(Bytes& out, std::span<const StartupParameter> parameters,
                            std::uint32_t version = kProtocol30);
void append_ssl_request(Bytes& out);
void append_gss_enc_request(Bytes& out);
void append_cancel_request(Bytes& out, std::int32_t process_id, ByteView secret);

void append_password_message(Bytes& out, std::string_view password);
void append_sasl_initial_response(Bytes& out, std::string_view mechanism, ByteView data);
void append_sasl_response(Bytes& out, ByteView data);

void append_query(Bytes& out, std::string_view sql);
void append_parse(Bytes& out, std::string_view statement, std::string_view sql);
// Without parameters, results in text format.
void append_bind(Bytes& out, std::string_view portal, std::string_view statement);
// `kind`: S statement, P portal.
void append_describe(Bytes& out, char kind, std::string_view name);
void append_execute(Bytes& out, std::string_view portal, std::uint32_t rows_max);
void append_close(Bytes& out, char kind, std::string_view name);
void append_flush(Bytes& out);
void append_sync(Bytes& out);
void append_copy_data(Bytes& out, ByteView data);
void append_copy_done(Bytes& out);
void append_copy_fail(Bytes& out, std::string_view reason);
void append_terminate(Bytes& out);

}  // namespace sluice::protocol
