#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "sizes/list_folder.h"
#include "sizes/sql_bytes.h"

// What of a statement stays the same from one execution to the next, as a sequence of tokens.
namespace sluice::sizes::detail {

consteval std::uint64_t packed(std::string_view word) noexcept {
  std::uint64_t all = 0;
  for (std::size_t i = word.size(); i-- > 0;)
    all = all << 8 | static_cast<unsigned char>(word[i]);
  return all;
}

inline constexpr std::uint64_t kNull = packed("null"), kTrue = packed("true"), kFalse = packed("false");

// Passes a statement's tokens to the sink: words in lower case, quoted names as they are, symbols, and
// literals (numbers, strings of all kinds, parameters, NULL, TRUE and FALSE) without what they say. Comments
// and white space are nothing. What does not end (a string, a comment) ends with the text; any bytes will do.
// Source: PostgreSQL manual, "Lexical Structure". A backslash escapes in E'...' and, with `escapes`, in
// '...'. O(length).
template <class Sink>
class Outline {
 public:
  Outline(std::string_view sql, bool escapes, const WordMap& words, Sink& sink) noexcept
      : sql_(sql), words_(words), sink_(sink), lists_(sink), escapes_(escapes) {}

  // What is frequent comes first.
  void run() {
    for (;;) {
      const ByteKind kind = kind_of(words_.lower(at_));
      if (is(kind, ByteKind::Word))
        word();
      else if (is(kind, ByteKind::Space))
        ++at_;
      else if (is(kind, ByteKind::Symbol))
        symbol_or_number();
      else if (is(kind, ByteKind::Digit))
        literal(behind_number(sql_, words_, at_));
      else if (is(kind, ByteKind::Quote))
        string();
      else if (is(kind, ByteKind::NameQuote))
        name();
      else if (is(kind, ByteKind::Dollar))
        dollar();
      else if (is(kind, ByteKind::Minus))
        minus();
      else if (is(kind, ByteKind::Slash))
        slash();
      else if (at_ < sql_.size())
        ++at_;
      else
        break;
    }
    lists_.flush();
  }

 private:
  bool follows(char c) const noexcept { return words_.lower(at_ + 1) == c; }
  bool digit_follows() const noexcept { return kind_of(words_.lower(at_ + 1)) == ByteKind::Digit; }
  void symbol_or_number() {
    if (words_.lower(at_) == '.' && !operand_ && digit_follows())
      literal(behind_number(sql_, words_, at_ + 1));
    else
      symbol();
  }
  void slash() {
    if (follows('*'))
      at_ = behind_comment(sql_, at_);
    else
      symbol();
  }
  void literal(std::size_t behind) {
    at_ = behind;
    lists_.literal();
    operand_ = true;
  }
  void word() {
    const std::size_t end = words_.behind_word(at_), bytes = end - at_;
    if (bytes <= sizeof(std::uint64_t)) {
      const std::uint64_t piece = words_.eight_lower(at_) & kByteTables.first[bytes];
      at_ = end;
      if (bytes == 1 && is_prefix(piece)) return;
      if (bytes == 4 ? piece == kNull || piece == kTrue : bytes == 5 && piece == kFalse) return literal(at_);
      lists_.other();
      sink_.word(piece, bytes);
    } else {
      lists_.other();
      long_word(end);
    }
    operand_ = false;                     // it may be a keyword
    if (words_.lower(at_) == ' ') ++at_;  // mostly
  }
  void long_word(std::size_t end) {
    for (; end - at_ > sizeof(std::uint64_t); at_ += sizeof(std::uint64_t))
      sink_.word_part(words_.eight_lower(at_));
    sink_.word(words_.eight_lower(at_) & kByteTables.first[end - at_], end - at_);
    at_ = end;
  }
  // One letter that is a part of a string: then that has been passed.
  bool is_prefix(std::uint64_t letter) {
    const char next = words_.lower(at_);
    if (next == '\'' && (letter == 'e' || letter == 'b' || letter == 'x' || letter == 'n'))
      literal(behind_string(sql_, at_, letter == 'e' || (letter == 'n' && escapes_)));
    else if (letter == 'u' && next == '&' && follows('\''))
      literal(behind_quoted(sql_, at_ + 1, false));
    else
      return false;
    return true;
  }
  void string() {
    const std::size_t near = escapes_ ? at_ : words_.behind_near_quote(at_);
    literal(near != at_ ? near : behind_string(sql_, at_, escapes_));
  }
  void name() {
    const std::size_t begin = at_, near = words_.behind_near_quote(at_);
    at_ = near != at_ ? near : behind_quoted(sql_, at_, false);
    lists_.other();
    sink_.name(sql_, begin, at_);
    operand_ = true;
  }
  void dollar() {
    const std::size_t behind = behind_dollar(sql_, words_, at_);
    if (behind == at_) return symbol();
    literal(behind);
  }
  void minus() {
    if (follows('-')) {
      const std::size_t line = sql_.find('\n', at_);
      at_ = line == std::string_view::npos ? sql_.size() : line;
    } else if (!operand_ && digit_follows()) {
      ++at_;  // a sign
    } else {
      symbol();
    }
  }
  void symbol() {
    const char c = words_.lower(at_++);
    lists_.symbol(c);
    operand_ = c == ')' || c == ']';
  }

  const std::string_view sql_;
  const WordMap& words_;
  Sink& sink_;
  ListFolder<Sink> lists_;
  std::size_t at_ = 0;
  const bool escapes_;
  bool operand_ = false;  // the last token ends one, so that a minus behind it is no sign
};

// In one function, so that where it is in the text, and what the sink has come to, stay in registers: the
// walk is twice as fast for it.
template <class Sink>
[[gnu::flatten]] void outline(std::string_view sql, bool escapes, Sink& result) {
  sql = sql.substr(0, kStatementBytesMax);
  const WordMap words(sql);
  Sink sink = result;
  Outline<Sink>(sql, escapes, words, sink).run();
  result = std::move(sink);
}

}  // namespace sluice::sizes::detail
