#include "http/raw_check.h"

#include <array>
#include <charconv>

namespace sluice::http {
namespace {

enum : std::uint8_t { kToken = 1, kText = 2 };

// RFC 9110, section 5.6.2 (tokens) and 5.5 (field values: visible characters, blanks, and bytes above ASCII).
constexpr std::array<std::uint8_t, 256> kClass = [] {
  std::array<std::uint8_t, 256> classes{};
  for (std::size_t c = 0x20; c < 256; ++c)
    if (c != 0x7f) classes[c] = kText;
  classes['\t'] = kText;
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  for (const char c : kMarks)
    classes[static_cast<unsigned char>(c)] |= kToken;
  for (std::size_t c = '0'; c <= '9'; ++c)
    classes[c] |= kToken;
  for (std::size_t c = 'a'; c <= 'z'; ++c)
    classes[c] |= kToken;
  for (std::size_t c = 'A'; c <= 'Z'; ++c)
    classes[c] |= kToken;
  return classes;
}();

bool all_of_class(std::string_view text, std::uint8_t wanted) noexcept {
  for (const char c : text)
    if ((kClass[static_cast<unsigned char>(c)] & wanted) == 0) return false;
  return true;
}

void note_content_length(std::string_view raw, RawFraming& framing) noexcept {
  // Spaces alone may surround the digits; the parser behind would take more.
  while (!raw.empty() && raw.front() == ' ')
    raw.remove_prefix(1);
  while (!raw.empty() && raw.back() == ' ')
    raw.remove_suffix(1);
  std::uint64_t length = 0;
  const auto [end, error] = std::from_chars(raw.data(), raw.data() + raw.size(), length);
  const bool plain = error == std::errc() && end == raw.data() + raw.size() && raw.front() != '-' &&
                     (raw.size() == 1 || raw.front() != '0') && length <= (std::uint64_t{1} << 62);
  if (!plain || (framing.content_length_lines > 0 && length != framing.content_length))
    framing.content_length_valid = false;
  framing.content_length = length;
  ++framing.content_length_lines;
}

void note_transfer_encoding(std::string_view raw, RawFraming& framing) noexcept {
  while (!raw.empty() && raw.front() == ' ')
    raw.remove_prefix(1);
  while (!raw.empty() && raw.back() == ' ')
    raw.remove_suffix(1);
  ++framing.transfer_encoding_lines;
  framing.only_chunked = framing.transfer_encoding_lines == 1 && equals_ignoring_case(raw, "chunked");
}

}  // namespace

bool is_token(std::string_view text) noexcept {
  return !text.empty() && all_of_class(text, kToken);
}

bool split_field_line(std::string_view line, std::string_view& name, std::string_view& value) noexcept {
  const std::size_t colon = line.find(':');
  if (colon == line.npos || !is_token(line.substr(0, colon))) return false;
  name = line.substr(0, colon);
  value = line.substr(colon + 1);
  if (!all_of_class(value, kText)) return false;
  while (!value.empty() && (value.front() == ' ' || value.front() == '\t'))
    value.remove_prefix(1);
  while (!value.empty() && (value.back() == ' ' || value.back() == '\t'))
    value.remove_suffix(1);
  return true;
}

RawHead check_raw_head(std::string_view bytes) noexcept {
  RawHead head;
  const auto refuse = [&head](const char* problem) {
    head.problem = problem;
    return head;
  };
  bool first = true;
  while (true) {
    const std::size_t end = bytes.find('\n');
    if (end == bytes.npos || end == 0 || bytes[end - 1] != '\r')
      return refuse("A line of the head does not end in CR LF.");
    const std::string_view line = bytes.substr(0, end - 1);
    bytes.remove_prefix(end + 1);
    if (first) {
      if (!all_of_class(line, kText) || line.find('\t') != line.npos)
        return refuse("The first line of the head has control characters in it.");
      first = false;
      continue;
    }
    if (line.empty()) return bytes.empty() ? head : refuse("Something follows the head's empty line.");
    std::string_view name, value;
    if (!split_field_line(line, name, value)) {
      return refuse(
          line.front() == ' ' || line.front() == '\t'
              ? "A header field is folded over two lines."
              : "A header field is malformed: a bad name, a blank before the colon, or control characters.");
    }
    ++head.fields;
    const std::string_view raw = line.substr(name.size() + 1);
    if (equals_ignoring_case(name, "content-length")) {
      note_content_length(raw, head.framing);
    } else if (equals_ignoring_case(name, "transfer-encoding")) {
      note_transfer_encoding(raw, head.framing);
    }
  }
}

}  // namespace sluice::http
