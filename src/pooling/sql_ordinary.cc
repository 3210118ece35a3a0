// The quick answer for texts that concern nobody: no token is cut, so whatever might be of interest, in a
// string or not, leads to the lexer.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/byte_set.h"
#include "pooling/sql_classifier.h"

namespace sluice::pooling {
namespace {

constexpr std::array<std::string_view, 19> kOrdinaryWords = {
    "select", "insert", "update",    "delete",  "commit", "end",   "rollback", "show",  "values", "copy",
    "with",   "merge",  "savepoint", "release", "fetch",  "begin", "table",    "abort", "close"};

char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}
bool blank(char c) noexcept {
  return c == ' ' || (c >= '\t' && c <= '\r');
}
bool only_blanks(std::string_view text) noexcept {
  for (const char c : text)
    if (!blank(c)) return false;
  return true;
}

// Bytes that may begin or belong to something of interest.
constexpr ByteSet kWatched(";_/-&");
constexpr ByteSet kWatchedInto(";_/-&oO");

std::string_view first_word(std::string_view text) noexcept {
  std::size_t bytes = 0;
  while (bytes < text.size() && lower(text[bytes]) >= 'a' && lower(text[bytes]) <= 'z')
    ++bytes;
  return text.substr(0, bytes);
}

std::string_view ordinary_word(std::string_view word) noexcept {
  for (const std::string_view known : kOrdinaryWords) {
    if (known.size() != word.size()) continue;
    bool same = true;
    for (std::size_t i = 0; same && i < word.size(); ++i)
      same = lower(word[i]) == known[i];
    if (same) return known;
  }
  return {};
}

// May what stands at sql[i], a watched byte, be of interest?
bool suspicious(std::string_view sql, std::size_t i) noexcept {
  const char before = i > 0 ? lower(sql[i - 1]) : '\0';
  const char after = i + 1 < sql.size() ? lower(sql[i + 1]) : '\0';
  switch (sql[i]) {
    case ';':  // another statement: the last one's own is left out
      return true;
    case '_':  // pg_advisory_lock, pg_try_advisory_lock, pg_temp, set_config
      return (before == 'g' && (after == 'a' || after == 't')) || (before == 't' && after == 'c');
    case '/':
    case '-': {  // a comment that is for us
      if (after != (sql[i] == '/' ? '*' : '-')) return false;
      const std::size_t text = sql.find_first_not_of(" \t\r\n\v\f", i + 2);
      return text != std::string_view::npos && sql[text] == 's';
    }
    case '&':  // U&"..." may spell any name
      return before == 'u' && after == '"';
    default:  // the o of INTO
      return before == 't' && i > 2 && lower(sql[i - 2]) == 'n' && lower(sql[i - 3]) == 'i' &&
             !(after >= 'a' && after <= 'z') && !(after >= '0' && after <= '9') && after != '_';
  }
}

bool any_suspicious(std::string_view sql, std::size_t begin, std::size_t end,
                    const ByteSet& watched) noexcept {
  for (std::size_t i = begin; i < end; ++i)
    if (watched.has(sql[i]) && suspicious(sql, i)) return true;
  return false;
}

// Sixteen bytes at a time, by the compiler's own vectors: a statement is looked at whenever it is sent.
using Block = std::uint8_t __attribute__((vector_size(16)));

Block block_at(const char* bytes) noexcept {
  Block block;
  std::memcpy(&block, bytes, sizeof block);
  return block;
}

// Whether one of these bytes, seen with the one before it, may make a pair that suspicious() is to judge.
// More than that may, but none is missed.
bool worth_a_look(const char* bytes, bool into) noexcept {
  const Block here = block_at(bytes), before = block_at(bytes - 1);
  const Block lower_before = before | 0x20;
  const auto after_t = lower_before == 't';
  auto found = (here == ';') | ((here == '_') & ((lower_before == 'g') | after_t)) |
               ((here == '*') & (before == '/')) | ((here == '-') & (before == '-')) |
               ((here == '&') & (lower_before == 'u'));
  if (into) found |= ((here | 0x20) == 'o') & after_t;
  std::array<std::uint64_t, 2> halves;
  static_assert(sizeof halves == sizeof found);
  std::memcpy(halves.data(), &found, sizeof found);
  return (halves[0] | halves[1]) != 0;
}

}  // namespace

bool mentions_notify(std::string_view sql) noexcept {
  constexpr std::string_view kNotify = "notify";
  return std::search(sql.begin(), sql.end(), kNotify.begin(), kNotify.end(),
                     [](char c, char wanted) { return lower(c) == wanted; }) != sql.end();
}

bool surely_ordinary(std::string_view sql) noexcept {
  std::size_t begin = 0;
  while (begin < sql.size() && blank(sql[begin]))
    ++begin;
  sql.remove_prefix(begin);
  const std::string_view word = first_word(sql);
  const std::string_view known = ordinary_word(word);
  if (known.empty()) return false;
  // Only what can be followed by a query may have an INTO of its own.
  const bool into = known == "select" || known == "with" || known == "table" || known == "values";
  if (known == "begin") {
    sql.remove_prefix(word.size());
    return only_blanks(sql) ||
           (sql.find_first_not_of(" \t\r\n") == sql.find(';') && only_blanks(sql.substr(sql.find(';') + 1)));
  }
  const ByteSet& watched = into ? kWatchedInto : kWatched;
  while (!sql.empty() && blank(sql.back()))
    sql.remove_suffix(1);
  if (!sql.empty() && sql.back() == ';') sql.remove_suffix(1);
  if (sql.size() < word.size()) return true;
  std::size_t at = word.size();
  for (; sql.size() - at >= sizeof(Block); at += sizeof(Block))
    if (worth_a_look(sql.data() + at, into) && any_suspicious(sql, at - 1, at + sizeof(Block), watched))
      return false;
  return !any_suspicious(sql, at - 1, sql.size(), watched);
}

}  // namespace sluice::pooling
