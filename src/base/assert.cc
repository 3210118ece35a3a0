#include "base/assert.h"

#include <cstdio>
#include <cstdlib>

namespace sluice {

void assertion_failed(const char* condition, const char* file, int line) noexcept {
  std::fprintf(stderr, "sluice: internal error: %s is false at %s:%d\n", condition, file, line);
  std::abort();
}

}  // namespace sluice
