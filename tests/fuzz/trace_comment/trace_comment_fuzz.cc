// Input: a statement. Its comments are read from the whole of it, and from what is left of it when it arrives
// in pieces; both must agree, with and without a memory of comments like it, and whatever comes out must be
// fit to be shown.
#include <algorithm>
#include <string_view>

#include "base/assert.h"
#include "base/utf8.h"
#include "tests/fuzz/fuzz_input.h"
#include "trace/comment.h"
#include "trace/route_names.h"
#include "trace/statement_capture.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sluice::trace;
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const std::string_view sql = all.substr(0, all.find('\0'));
  const Tags tags = read_comments(sql, sql);
  SLUICE_ASSERT(tags.route.size() <= kRouteBytesMax && sluice::is_utf8(tags.route));
  for (const char c : tags.route)
    SLUICE_ASSERT(static_cast<unsigned char>(c) >= 0x20 && c != 0x7F);
  SLUICE_ASSERT(tags.empty() || begins_with_comment(sql) || ends_with_comment(sql));

  const std::size_t piece = size == 0 ? 1 : 1 + data[size - 1] % 50;
  StatementCapture capture('Q');
  for (std::size_t at = 0; at < all.size(); at += piece)
    capture.add(all.substr(at, piece));
  SLUICE_ASSERT(sql.starts_with(capture.front()) && sql.ends_with(capture.back()));
  SLUICE_ASSERT(read_comments(capture.front(), capture.back()) == tags);

  RouteNames names;
  RouteNames::Hint hint = 0;
  for (int time = 0; time < 2; ++time) {
    const RouteNames::Named named = names.read(sql, sql, hint);
    SLUICE_ASSERT((named.route ? *named.route : "") == tags.route && named.trace == tags.trace);
  }

  // What the text of a literal says is no comment.
  const std::string literal = "'" + std::string(sql.substr(0, 4000)) + "'";
  SLUICE_ASSERT(!begins_with_comment(literal) && !ends_with_comment(literal));
  return 0;
}
