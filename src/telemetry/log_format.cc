#include "telemetry/log_format.h"

#include <fmt/format.h>

namespace sluice::log {
namespace {

// One character of UTF-8 at the front of `text`: its length and code point; length 0 when it is none
// (overlong, surrogate, beyond U+10FFFF, cut off).
struct Character {
  std::size_t length = 0;
  std::uint32_t code = 0;
};
Character decode(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i]));
  };
  const std::uint32_t lead = byte(0);
  if (lead < 0x80) return {1, lead};
  std::size_t length = 0;
  std::uint32_t code = 0, least = 0;
  if ((lead & 0xE0) == 0xC0) {
    length = 2, code = lead & 0x1F, least = 0x80;
  } else if ((lead & 0xF0) == 0xE0) {
    length = 3, code = lead & 0x0F, least = 0x800;
  } else if ((lead & 0xF8) == 0xF0) {
    length = 4, code = lead & 0x07, least = 0x10000;
  } else {
    return {};
  }
  if (text.size() < length) return {};
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3F);
  }
  if (code < least || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return {};
  return {length, code};
}

// Would move the cursor, end the line or turn the direction of what follows.
bool is_hazard(std::uint32_t code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x2028 || code == 0x2029 ||
         (code >= 0x200B && code <= 0x200F) || (code >= 0x202A && code <= 0x202E) ||
         (code >= 0x2060 && code <= 0x2069) || code == 0xFEFF;
}

void append_escaped(std::string& out, Format format, std::uint32_t code) {
  switch (code) {
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      break;
  }
  if (format == Format::KeyValue && code < 0x80) {
    fmt::format_to(std::back_inserter(out), "\\x{:02x}", code);
  } else {
    fmt::format_to(std::back_inserter(out), "\\u{:04x}", code);
  }
}

void append_quoted(std::string& out, Format format, std::string_view text) {
  out += '"';
  std::size_t used = 0;
  while (used < text.size()) {
    if (used >= kValueBytesMax) {
      out += "...";
      break;
    }
    const Character character = decode(text.substr(used));
    if (character.length == 0) {
      if (format == Format::Json) {
        out += "\\ufffd";
      } else {
        fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(text[used]));
      }
      ++used;
      continue;
    }
    if (character.code == '"' || character.code == '\\') {
      out += '\\';
      out += static_cast<char>(character.code);
    } else if (is_hazard(character.code)) {
      append_escaped(out, format, character.code);
    } else {
      out += text.substr(used, character.length);
    }
    used += character.length;
  }
  out += '"';
}

bool is_plain(std::string_view text) {
  if (text.empty() || text.size() > kValueBytesMax) return false;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("_.:/@+-,*").find(c) != std::string_view::npos;
    if (!plain) return false;
  }
  return true;
}

void append_text(std::string& out, Format format, std::string_view text) {
  if (format == Format::KeyValue && is_plain(text)) {
    out += text;
  } else {
    append_quoted(out, format, text);
  }
}

void append_key(std::string& out, Format format, std::string_view key) {
  if (!out.empty()) out += format == Format::Json ? ',' : ' ';
  if (format == Format::Json) {
    append_quoted(out, format, key);
    out += ':';
  } else {
    out += key;
    out += '=';
  }
}

void append_value(std::string& out, Format format, const Field::Value& value) {
  if (const auto* text = std::get_if<std::string_view>(&value)) {
    append_text(out, format, *text);
  } else if (const auto* flag = std::get_if<bool>(&value)) {
    out += *flag ? "true" : "false";
  } else if (const auto* real = std::get_if<double>(&value)) {
    // JSON has no infinities.
    const bool finite = *real - *real == 0.0;
    out += finite ? fmt::format("{:.6g}", *real) : std::string(format == Format::Json ? "null" : "nan");
  } else if (const auto* natural = std::get_if<std::uint64_t>(&value)) {
    fmt::format_to(std::back_inserter(out), "{}", *natural);
  } else {
    fmt::format_to(std::back_inserter(out), "{}", std::get<std::int64_t>(value));
  }
}

}  // namespace

std::string format_fields(Format format, std::string_view event, std::span<const Field> fields) {
  std::string out;
  append_key(out, format, "event");
  append_text(out, format, event);
  int omitted = 0;
  for (const Field& field : fields) {
    const std::size_t before = out.size();
    append_key(out, format, field.key());
    append_value(out, format, field.value());
    if (out.size() <= kLineBytesMax) continue;
    out.resize(before);
    ++omitted;
  }
  if (omitted > 0) {
    append_key(out, format, "fields_omitted");
    fmt::format_to(std::back_inserter(out), "{}", omitted);
  }
  return out;
}

}  // namespace sluice::log
