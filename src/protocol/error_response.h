#pragma once

#include <string>

#include "base/bytes.h"

namespace sluice::protocol {

// The fields of ErrorResponse and NoticeResponse that Sluice writes or reads.
// Source: PostgreSQL manual, "Error and Notice Message Fields".
struct ErrorFields {
  std::string severity;  // never translated: ERROR FATAL PANIC WARNING NOTICE DEBUG INFO LOG
  std::string sqlstate;  // five characters
  std::string message;
  std::string detail;  // "" = none
  std::string hint;    // "" = none

  friend bool operator==(const ErrorFields&, const ErrorFields&) = default;
};

// Appends an ErrorResponse with S, V, C, M, and D and H where not empty. A value ends at its first zero byte.
void append_error_response(Bytes& out, const ErrorFields& fields);
void append_notice_response(Bytes& out, const ErrorFields& fields);

// Reads the body of an ErrorResponse or NoticeResponse, tolerantly: unknown fields are skipped, a field cut
// short ends the reading, absent ones stay empty. Severity is V, or S when a server older than 9.6 sends no
// V.
ErrorFields parse_error_fields(ByteView body);

}  // namespace sluice::protocol
