#include "admin/sql_tokens.h"

#include <optional>

#include "admin/text.h"
#include "base/utf8.h"

namespace sluice::admin {
namespace {

bool is_space(char c) noexcept {
  return c == ' ' || (c >= '\t' && c <= '\r');
}
bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}
bool begins_word(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80 || is_digit(c);
}
bool continues_word(char c) noexcept {
  return begins_word(c) || c == '$' || c == '.' || c == '-';
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  bool at_end() const noexcept { return at_ >= text_.size(); }
  char here() const noexcept { return text_[at_]; }
  bool see(std::string_view piece) const noexcept { return text_.substr(at_, piece.size()) == piece; }

  // Moves over white space and comments; false when a comment does not end.
  bool skip_blank() {
    while (!at_end()) {
      if (is_space(here())) {
        ++at_;
      } else if (see("--")) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (see("/*")) {
        if (!skip_block_comment()) return false;
      } else {
        break;
      }
    }
    return true;
  }

  // The token here; nullopt when a quote does not end. Precondition: not at_end().
  std::optional<Token> next() {
    const char c = here();
    if (c == '"' || c == '\'') return quoted(c);
    if (!begins_word(c)) return Token{TokenKind::Symbol, std::string(1, text_[at_++])};
    const std::size_t begin = at_;
    bool number = true;
    while (!at_end() && continues_word(here()) && !see("--"))
      number = is_digit(text_[at_++]) && number;
    return Token{number ? TokenKind::Number : TokenKind::Word, std::string(text_.substr(begin, at_ - begin))};
  }

 private:
  bool skip_block_comment() {
    std::size_t depth = 0;
    do {
      if (at_end()) return false;
      if (see("/*")) {
        ++depth;
        at_ += 2;
      } else if (see("*/")) {
        --depth;
        at_ += 2;
      } else {
        ++at_;
      }
    } while (depth > 0);
    return true;
  }

  std::optional<Token> quoted(char quote) {
    Token token{quote == '"' ? TokenKind::Name : TokenKind::String, {}};
    for (++at_; !at_end(); ++at_) {
      if (here() == quote) {
        ++at_;
        if (at_end() || here() != quote) return token;
      }
      token.text.push_back(here());
    }
    return std::nullopt;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::variant<std::vector<Tokens>, SqlError> split_statements(std::string_view text) {
  if (!is_utf8(text)) return SqlError{"22021", "invalid byte sequence for encoding \"UTF8\"", {}, {}};
  std::vector<Tokens> statements;
  Tokens current;
  Lexer lexer(text);
  while (true) {
    if (!lexer.skip_blank()) return SqlError{"42601", "unterminated /* comment", {}, {}};
    const bool end = lexer.at_end();
    if (!end) {
      std::optional<Token> token = lexer.next();
      if (!token) return SqlError{"42601", "unterminated quoted text", {}, {}};
      if (token->kind != TokenKind::Symbol || token->text != ";") {
        if (current.size() == kTokensMax) return SqlError{"54001", "command has too many words", {}, {}};
        current.push_back(std::move(*token));
        continue;
      }
    }
    if (!current.empty()) {
      if (statements.size() == kStatementsMax) {
        return SqlError{"54000",
                        "too many commands in one query",
                        {},
                        "At most " + std::to_string(kStatementsMax) + " at a time."};
      }
      statements.push_back(std::move(current));
      current.clear();
    }
    if (end) return statements;
  }
}

}  // namespace sluice::admin
