#include <cstddef>
#include <cstdint>
#include <string>

#include "base/assert.h"
#include "sizes/fingerprint.h"

// Any bytes have a fingerprint and a bounded outline, and what is left out in front changes neither.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sluice::sizes;
  const std::string sql(reinterpret_cast<const char*>(data), size);
  const std::uint64_t print = fingerprint(sql);
  const std::string text = outline(sql, 64);
  SLUICE_ASSERT(text.size() <= 64);
  SLUICE_ASSERT(print != 0);
  SLUICE_ASSERT(!text.empty() || print == 1);
  const std::string behind_comment = " /* it's */\n" + sql;
  if (behind_comment.size() <= kStatementBytesMax) {
    SLUICE_ASSERT(fingerprint(behind_comment) == print);
    SLUICE_ASSERT(outline(behind_comment, 64) == text);
  }
  return 0;
}
