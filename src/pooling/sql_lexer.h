#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sluice::pooling {

// How the server reads a backslash in '...': the setting standard_conforming_strings.
enum class Backslash : std::uint8_t { Literal, Escape };

enum class SqlTokenKind : std::uint8_t {
  End,
  Word,    // a keyword or an identifier without quotes
  Name,    // "..." or U&"..."
  String,  // '...' with or without E, B, X, N, U& in front, and $tag$...$tag$
  Number,
  Symbol,  // any other single character
};

struct SqlToken {
  SqlTokenKind kind = SqlTokenKind::End;
  std::string_view text;  // as written, quotes and prefix included

  bool symbol(char c) const noexcept { return kind == SqlTokenKind::Symbol && text[0] == c; }
  // A keyword, given in lower case.
  bool word(std::string_view lower) const noexcept;
  // An identifier as PostgreSQL knows it: folded or without its quotes, at most 63 bytes.
  std::string identifier() const;
  // Without quotes and with '' as '; an escape of E'...' is left as it is.
  std::string string_value() const;
};

// PostgreSQL's tokens, one after the other, with nested comments left out.
// Source: PostgreSQL manual, "Lexical Structure". What does not end (string, comment) ends with the text.
// Lifetime: tokens view the text. Cost: O(text) for all of it.
class SqlLexer {
 public:
  SqlLexer(std::string_view sql, Backslash backslash) : rest_(sql), backslash_(backslash) {}

  SqlToken next();
  // The first comment of the form "sluice: ..." passed so far, without its marks and outer blanks; else
  // empty.
  std::string_view directive() const noexcept { return directive_; }

 private:
  void skip_blanks();
  void skip_line_comment();
  void skip_block_comment();
  void note(std::string_view comment) noexcept;
  SqlToken token(SqlTokenKind kind, std::size_t bytes);
  std::size_t quoted_bytes(std::size_t at, char quote, bool escapes) const noexcept;
  std::size_t dollar_bytes() const noexcept;

  std::string_view rest_;
  const Backslash backslash_;
  std::string_view directive_;
};

}  // namespace sluice::pooling
