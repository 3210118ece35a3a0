#include "protocol/error_response.h"

#include <gtest/gtest.h>

#include "protocol/backend_messages.h"
#include "protocol/protocol_error.h"

namespace sluice::protocol {
namespace {

ByteView body_of(const Bytes& message) {
  return ByteView(message).subspan(5);
}

TEST(ErrorResponse, ReadsBackWhatItWrote) {
  const ErrorFields fields{"FATAL", "53300", "too many sessions", "limit 10 of class freemium", "try later"};
  Bytes out;
  append_error_response(out, fields);
  EXPECT_EQ(out[0], std::byte{'E'});
  EXPECT_EQ(parse_error_fields(body_of(out)), fields);
  out.clear();
  append_notice_response(out, fields);
  EXPECT_EQ(out[0], std::byte{'N'});
  EXPECT_EQ(parse_error_fields(body_of(out)), fields);
}

TEST(ErrorResponse, CutsAValueAtAZeroByteSoThatItCannotAddFields) {
  using namespace std::string_literals;
  Bytes out;
  append_error_response(out, {"ERROR", "42601", "a\0C00000\0"s, "", ""});
  const ErrorFields read = parse_error_fields(body_of(out));
  EXPECT_EQ(read.message, "a");
  EXPECT_EQ(read.sqlstate, "42601");
}

TEST(ErrorResponse, StandsEveryTruncation) {
  Bytes out;
  append_error_response(out, {"ERROR", "42601", "m", "d", "h"});
  const ByteView body = body_of(out);
  for (std::size_t size = 0; size < body.size(); ++size) {
    const ErrorFields read = parse_error_fields(body.first(size));
    EXPECT_TRUE(read.message.empty() || read.message == "m");
  }
}

TEST(ErrorResponse, TakesTheLocalizedSeverityWhenAnOldServerSendsNoOther) {
  using namespace std::string_literals;
  EXPECT_EQ(parse_error_fields(as_bytes("SFATAL\0C57P01\0\0"s)).severity, "FATAL");
  EXPECT_EQ(parse_error_fields(as_bytes("SFATAL\0VPANIC\0\0"s)).severity, "PANIC");
}

TEST(ProtocolErrc, HasARowForEachEnumerator) {
  for (int value = 1; value <= static_cast<int>(ProtocolErrc::DecoderDead); ++value) {
    const auto code = static_cast<ProtocolErrc>(value);
    EXPECT_NE(error_fields(code).sqlstate, "XX000") << value;
    EXPECT_EQ(make_error_code(code).message(), error_fields(code).message);
  }
}

}  // namespace
}  // namespace sluice::protocol
