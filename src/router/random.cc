#include "router/random.h"

#include <algorithm>
#include <array>

#include <openssl/crypto.h>
#include <openssl/rand.h>

#include "base/assert.h"

namespace sluice::router {

namespace {

// Random bytes in store: a login asks for a few bytes several times, and each call of the generator costs a
// system call.
struct Store {
  std::array<std::byte, 1024> bytes;
  std::size_t used = sizeof bytes;
};
thread_local Store store;

void generate(std::span<std::byte> out) {
  SLUICE_ASSERT(RAND_bytes(reinterpret_cast<unsigned char*>(out.data()), static_cast<int>(out.size())) == 1);
}

}  // namespace

void random_bytes(std::span<std::byte> out) {
  if (out.size() > store.bytes.size()) return generate(out);
  if (store.bytes.size() - store.used < out.size()) {
    generate(store.bytes);
    store.used = 0;
  }
  const auto taken = std::span(store.bytes).subspan(store.used, out.size());
  std::copy(taken.begin(), taken.end(), out.begin());
  OPENSSL_cleanse(taken.data(), taken.size());  // nobody reads the same bytes again
  store.used += out.size();
}

std::uint32_t random_u32() {
  std::uint32_t value = 0;
  random_bytes(std::as_writable_bytes(std::span(&value, 1)));
  return value;
}

}  // namespace sluice::router
