#include "router/random.h"

#include <openssl/rand.h>

#include "base/assert.h"

namespace sluice::router {

void random_bytes(std::span<std::byte> out) {
  SLUICE_ASSERT(RAND_bytes(reinterpret_cast<unsigned char*>(out.data()), static_cast<int>(out.size())) == 1);
}

std::uint32_t random_u32() {
  std::uint32_t value = 0;
  random_bytes(std::as_writable_bytes(std::span(&value, 1)));
  return value;
}

}  // namespace sluice::router
