#include <array>
#include <string>

#include <gtest/gtest.h>

#include "protocol/backend_messages.h"
#include "protocol/frontend_messages.h"

namespace sluice::protocol {
namespace {

using namespace std::string_literals;

template <class... Args>
std::string written(void (*append_one)(Bytes&, Args...), std::type_identity_t<Args>... args) {
  Bytes out;
  append_one(out, args...);
  return std::string(as_text(out));
}

TEST(BackendMessages, MatchTheManualByteForByte) {
  EXPECT_EQ(written(append_authentication_ok), "R\0\0\0\x08\0\0\0\0"s);
  EXPECT_EQ(written(append_authentication_cleartext), "R\0\0\0\x08\0\0\0\x03"s);
  EXPECT_EQ(written(append_ready_for_query, 'T'), "Z\0\0\0\x05T"s);
  EXPECT_EQ(written(append_parameter_status, "a", "b"), "S\0\0\0\x08\x61\0b\0"s);
  EXPECT_EQ(written(append_command_complete, "SELECT 1"), "C\0\0\0\x0dSELECT 1\0"s);
  EXPECT_EQ(written(append_empty_query_response), "I\0\0\0\x04"s);
  const std::array<std::byte, 4> key{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
  EXPECT_EQ(written(append_authentication_md5, key), "R\0\0\0\x0c\0\0\0\x05\1\2\3\4"s);
  EXPECT_EQ(written(append_backend_key_data, 258, key), "K\0\0\0\x0c\0\0\1\2\1\2\3\4"s);
  const std::array<std::string_view, 1> mechanisms{"SCRAM-SHA-256"};
  EXPECT_EQ(written(append_authentication_sasl, mechanisms), "R\0\0\0\x17\0\0\0\x0aSCRAM-SHA-256\0\0"s);
  const std::array<std::string, 1> options{"_pq_.x"};
  EXPECT_EQ(written(append_negotiate_protocol_version, kProtocol30, options),
            "v\0\0\0\x13\0\3\0\0\0\0\0\1_pq_.x\0"s);
}

TEST(BackendMessages, SendRowsInTextFormat) {
  const std::array<TextColumn, 1> columns{TextColumn{"n", 23}};
  EXPECT_EQ(written(append_row_description, columns),
            "T\0\0\0\x1a\0\1n\0\0\0\0\0\0\0\0\0\0\x17\0\4\xff\xff\xff\xff\0\0"s);
  const std::array<std::optional<std::string>, 2> values{"42", std::nullopt};
  EXPECT_EQ(written(append_data_row, values),
            "D\0\0\0\x10\0\2\0\0\0\2"
            "42\xff\xff\xff\xff"s);
}

TEST(FrontendMessages, MatchTheManualByteForByte) {
  const std::array<StartupParameter, 1> parameters{StartupParameter{"user", "u"}};
  EXPECT_EQ(written(append_startup_message, parameters, kProtocol30), "\0\0\0\x10\0\3\0\0user\0u\0\0"s);
  EXPECT_EQ(written(append_ssl_request), "\0\0\0\x08\x04\xd2\x16\x2f"s);
  EXPECT_EQ(written(append_gss_enc_request), "\0\0\0\x08\x04\xd2\x16\x30"s);
  EXPECT_EQ(written(append_cancel_request, 1, as_bytes("abcd")),
            "\0\0\0\x10\x04\xd2\x16\x2e\0\0\0\1"
            "abcd"s);
  EXPECT_EQ(written(append_password_message, "pw"), "p\0\0\0\7pw\0"s);
  EXPECT_EQ(written(append_sasl_initial_response, "M", as_bytes("xy")), "p\0\0\0\x0cM\0\0\0\0\2xy"s);
  EXPECT_EQ(written(append_query, ";"), "Q\0\0\0\6;\0"s);
  EXPECT_EQ(written(append_parse, "s", "q"), "P\0\0\0\x0as\0q\0\0\0"s);
  EXPECT_EQ(written(append_bind, "", "s"), "B\0\0\0\x0d\0s\0\0\0\0\0\0\0"s);
  EXPECT_EQ(written(append_describe, 'P', ""), "D\0\0\0\6P\0"s);
  EXPECT_EQ(written(append_execute, "", 1), "E\0\0\0\x09\0\0\0\0\1"s);
  EXPECT_EQ(written(append_close, 'S', "s"), "C\0\0\0\7Ss\0"s);
  EXPECT_EQ(written(append_flush), "H\0\0\0\4"s);
  EXPECT_EQ(written(append_sync), "S\0\0\0\4"s);
  EXPECT_EQ(written(append_copy_data, as_bytes("1")),
            "d\0\0\0\5"
            "1"s);
  EXPECT_EQ(written(append_copy_done), "c\0\0\0\4"s);
  EXPECT_EQ(written(append_copy_fail, "no"), "f\0\0\0\7no\0"s);
  EXPECT_EQ(written(append_terminate), "X\0\0\0\4"s);
}

TEST(FrontendMessages, CutStringsAtAZeroByte) {
  EXPECT_EQ(written(append_query, std::string_view("a\0b", 3)), "Q\0\0\0\6a\0"s);
}

}  // namespace
}  // namespace sluice::protocol
