#pragma once

#include <cstddef>
#include <string_view>

#include "http/head.h"

// What is looked at in a head's bytes before the parser sees them. Pure.
namespace sluice::http {

// What the bytes say of the framing.
struct RawFraming {
  std::size_t content_length_lines = 0;
  std::size_t transfer_encoding_lines = 0;
  std::uint64_t content_length = 0;
  bool content_length_valid = true;  // digits alone, no leading zero, within 63 bits, all lines the same
  bool only_chunked = true;          // one line, whose value is "chunked"
};

struct RawHead {
  const char* problem = nullptr;  // a sentence; nullptr = nothing is wrong
  std::size_t fields = 0;
  RawFraming framing;
};

// `bytes`: a start line and field lines, each ended by CRLF, and the empty line. Refuses bare CR, bare LF,
// NUL and other control characters, folded lines, names that are no tokens, and blanks before a colon.
RawHead check_raw_head(std::string_view bytes) noexcept;

// One field line without its line end; false if it is malformed. The value comes without blanks around it.
bool split_field_line(std::string_view line, std::string_view& name, std::string_view& value) noexcept;

}  // namespace sluice::http
