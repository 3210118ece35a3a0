#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace sluice::admin {

// What is wrong with a command, in the terms of an ErrorResponse of severity ERROR.
struct SqlError {
  std::string sqlstate, message, detail, hint;
};

enum class TokenKind {
  Word,    // letters, digits, _ $ . - in one piece, not beginning with one of $ . -: SHOW, replica-1,
           // pg_catalog.version
  Number,  // digits only
  Name,    // "quoted", without its quotes
  String,  // 'quoted', without its quotes
  Symbol,  // any other single character
};

struct Token {
  TokenKind kind = TokenKind::Symbol;
  std::string text;
};
using Tokens = std::vector<Token>;

inline constexpr std::size_t kStatementsMax = 100;
inline constexpr std::size_t kTokensMax = 200;  // of one statement

// Splits the text of a Query or Parse at its semicolons. Comments (-- and nested /* */) and empty statements
// vanish. Errors: 22021 for what is no UTF-8, 42601 for a quote or comment that does not end, 54001 and 54000
// past the limits. Pure; O(text).
std::variant<std::vector<Tokens>, SqlError> split_statements(std::string_view text);

}  // namespace sluice::admin
