#include "pooling/stand_in.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <string_view>

namespace sluice::pooling {
namespace {

constexpr std::array<std::string_view, 5> kEndsBlock = {"commit", "end", "rollback", "abort", "prepare"};
// First words of statements that give no rows, unless RETURNING is among the others.
constexpr std::array<std::string_view, 27> kNoRows = {
    "insert", "update", "delete", "merge",  "begin",      "start",   "savepoint", "release", "set",
    "reset",  "create", "drop",   "alter",  "truncate",   "grant",   "revoke",    "comment", "lock",
    "listen", "copy",   "do",     "notify", "deallocate", "discard", "vacuum",    "analyze", "unlisten"};

template <std::size_t n>
bool one_of(const std::array<std::string_view, n>& words, const SqlToken& token) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return token.word(word); });
}

struct Shape {
  bool empty = true;
  bool ends_block = false;
  bool no_rows = false;
  std::uint32_t parameters = 0;  // the highest $n
};

Shape shape_of(std::string_view sql, Backslash backslash) {
  Shape shape;
  SqlLexer lexer(sql, backslash);
  for (SqlToken token = lexer.next(); token.kind != SqlTokenKind::End; token = lexer.next()) {
    if (shape.empty) {
      shape.empty = false;
      shape.ends_block = one_of(kEndsBlock, token);
      shape.no_rows = one_of(kNoRows, token);
    }
    if (token.word("returning")) shape.no_rows = false;
    if (token.kind != SqlTokenKind::Number || token.text.front() != '$') continue;
    std::uint32_t number = UINT32_MAX;
    std::from_chars(token.text.data() + 1, token.text.data() + token.text.size(), number);
    shape.parameters = std::max(shape.parameters, number);
  }
  return shape;
}

}  // namespace

std::optional<Bytes> stand_in(ByteView body, Backslash backslash, StandInFor use) {
  ByteReader in(body);
  const auto sql = in.cstring();
  const auto declared = in.u16();
  if (!sql || !declared) return std::nullopt;
  const ByteView types = in.rest();
  const Shape shape = shape_of(*sql, backslash);
  if (shape.empty || shape.ends_block || shape.parameters > UINT16_MAX) return std::nullopt;
  const std::uint16_t count = std::max(*declared, static_cast<std::uint16_t>(shape.parameters));
  if (use == StandInFor::Describe) {
    bool known = shape.no_rows && count == *declared;
    for (ByteReader type(types); known && type.remaining() > 0;)
      known = type.u32().value_or(0) != 0;
    if (!known) return std::nullopt;
  }
  Bytes out;
  ByteWriter writer(out);
  writer.cstring("");
  writer.u16(count);
  writer.bytes(types);
  for (std::uint32_t i = *declared; i < count; ++i)
    writer.u32(25);  // text: its values are not looked at
  return out;
}

}  // namespace sluice::pooling
