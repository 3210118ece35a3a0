#include "pooling/sql_lexer.h"

#include <algorithm>

namespace sluice::pooling {
namespace {

constexpr std::size_t kIdentifierBytesMax = 63;  // NAMEDATALEN - 1

bool blank(char c) noexcept {
  return c == ' ' || (c >= '\t' && c <= '\r');
}
bool word_start(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         (static_cast<unsigned char>(c) >= 0x80);
}
bool digit(char c) noexcept {
  return c >= '0' && c <= '9';
}
char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

}  // namespace

bool SqlToken::word(std::string_view lower_text) const noexcept {
  return kind == SqlTokenKind::Word && text.size() == lower_text.size() &&
         std::equal(text.begin(), text.end(), lower_text.begin(),
                    [](char a, char b) { return lower(a) == b; });
}

std::string SqlToken::identifier() const {
  std::string name;
  if (kind == SqlTokenKind::Name) {
    std::string_view inner = text.substr(std::min(text.find('"') + 1, text.size()));
    if (inner.ends_with('"')) inner.remove_suffix(1);
    for (std::size_t i = 0; i < inner.size(); ++i) {
      name += inner[i];
      if (inner[i] == '"') ++i;
    }
  } else {
    for (const char c : text)
      name += lower(c);
  }
  if (name.size() > kIdentifierBytesMax) name.resize(kIdentifierBytesMax);
  return name;
}

std::string SqlToken::string_value() const {
  std::string value;
  if (text.starts_with('$')) {
    const std::size_t tag = text.find('$', 1) + 1;
    return std::string(text.size() >= 2 * tag ? text.substr(tag, text.size() - 2 * tag) : text.substr(tag));
  }
  std::string_view inner = text.substr(std::min(text.find('\'') + 1, text.size()));
  if (inner.ends_with('\'')) inner.remove_suffix(1);
  for (std::size_t i = 0; i < inner.size(); ++i) {
    value += inner[i];
    if (inner[i] == '\'') ++i;
  }
  return value;
}

SqlToken SqlLexer::token(SqlTokenKind kind, std::size_t bytes) {
  const SqlToken made{kind, rest_.substr(0, bytes)};
  rest_.remove_prefix(made.text.size());
  return made;
}

SqlToken SqlLexer::next() {
  skip_blanks();
  if (rest_.empty()) return {};
  const char c = rest_.front();
  if (word_start(c)) {
    const char second = rest_.size() > 1 ? rest_[1] : '\0';
    if (second == '\'' && (c == 'e' || c == 'E'))
      return token(SqlTokenKind::String, quoted_bytes(1, '\'', true));
    if (second == '\'' && (c == 'n' || c == 'N'))
      return token(SqlTokenKind::String, quoted_bytes(1, '\'', backslash_ == Backslash::Escape));
    if (second == '\'' && (c == 'b' || c == 'B' || c == 'x' || c == 'X'))
      return token(SqlTokenKind::String, quoted_bytes(1, '\'', false));
    if (second == '&' && (c == 'u' || c == 'U') && rest_.size() > 2 && (rest_[2] == '\'' || rest_[2] == '"'))
      return token(rest_[2] == '"' ? SqlTokenKind::Name : SqlTokenKind::String,
                   quoted_bytes(2, rest_[2], false));
    std::size_t bytes = 1;
    while (bytes < rest_.size() && (word_start(rest_[bytes]) || digit(rest_[bytes]) || rest_[bytes] == '$'))
      ++bytes;
    return token(SqlTokenKind::Word, bytes);
  }
  if (digit(c)) {
    std::size_t bytes = 1;
    while (bytes < rest_.size() && (digit(rest_[bytes]) || rest_[bytes] == '.'))
      ++bytes;
    return token(SqlTokenKind::Number, bytes);
  }
  if (c == '\'') return token(SqlTokenKind::String, quoted_bytes(0, '\'', backslash_ == Backslash::Escape));
  if (c == '"') return token(SqlTokenKind::Name, quoted_bytes(0, '"', false));
  if (c == '$') {
    if (const std::size_t bytes = dollar_bytes(); bytes > 0) return token(SqlTokenKind::String, bytes);
    std::size_t bytes = 1;
    while (bytes < rest_.size() && digit(rest_[bytes]))
      ++bytes;
    return token(bytes > 1 ? SqlTokenKind::Number : SqlTokenKind::Symbol, bytes);
  }
  return token(SqlTokenKind::Symbol, 1);
}

void SqlLexer::skip_blanks() {
  while (!rest_.empty()) {
    if (blank(rest_.front()))
      rest_.remove_prefix(1);
    else if (rest_.starts_with("--"))
      skip_line_comment();
    else if (rest_.starts_with("/*"))
      skip_block_comment();
    else
      return;
  }
}

void SqlLexer::skip_line_comment() {
  const std::size_t end = std::min(rest_.find_first_of("\r\n"), rest_.size());
  note(rest_.substr(2, end - 2));
  rest_.remove_prefix(end);
}

void SqlLexer::skip_block_comment() {
  std::size_t depth = 1;
  std::size_t at = 2;
  while (depth > 0) {
    at = rest_.find_first_of("*/", at);
    if (at == std::string_view::npos || at + 1 >= rest_.size()) {
      rest_ = {};
      return;
    }
    if (rest_[at] == '*' && rest_[at + 1] == '/') {
      --depth;
      at += 2;
    } else if (rest_[at] == '/' && rest_[at + 1] == '*') {
      ++depth;
      at += 2;
    } else {
      ++at;
    }
  }
  note(rest_.substr(2, at - 4));
  rest_.remove_prefix(at);
}

void SqlLexer::note(std::string_view comment) noexcept {
  constexpr std::string_view kMark = "sluice:";
  while (!comment.empty() && blank(comment.front()))
    comment.remove_prefix(1);
  if (!directive_.empty() || !comment.starts_with(kMark)) return;
  comment.remove_prefix(kMark.size());
  while (!comment.empty() && blank(comment.front()))
    comment.remove_prefix(1);
  while (!comment.empty() && blank(comment.back()))
    comment.remove_suffix(1);
  directive_ = comment;
}

// Of a quoted token whose opening quote stands at `at`, counted from the front of rest_.
std::size_t SqlLexer::quoted_bytes(std::size_t at, char quote, bool escapes) const noexcept {
  for (std::size_t i = at + 1; i < rest_.size(); ++i) {
    if (rest_[i] == '\\' && escapes) {
      ++i;
    } else if (rest_[i] == quote) {
      if (i + 1 < rest_.size() && rest_[i + 1] == quote)
        ++i;
      else
        return i + 1;
    }
  }
  return rest_.size();
}

// Of a dollar-quoted string in front; 0 when it is none.
std::size_t SqlLexer::dollar_bytes() const noexcept {
  std::size_t tag_end = 1;
  if (tag_end < rest_.size() && word_start(rest_[tag_end])) {
    ++tag_end;
    while (tag_end < rest_.size() && (word_start(rest_[tag_end]) || digit(rest_[tag_end])))
      ++tag_end;
  }
  if (tag_end >= rest_.size() || rest_[tag_end] != '$') return 0;
  const std::string_view tag = rest_.substr(0, tag_end + 1);
  const std::size_t end = rest_.find(tag, tag.size());
  return end == std::string_view::npos ? rest_.size() : end + tag.size();
}

}  // namespace sluice::pooling
