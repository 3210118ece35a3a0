#include "protocol/cancel_key.h"

#include <algorithm>

#include "base/assert.h"
#include "protocol/frontend_messages.h"

namespace sluice::protocol {
namespace {

constexpr std::uint32_t kLocalBits = 18;
constexpr std::uint32_t kLocalMask = (1u << kLocalBits) - 1;
constexpr std::size_t kShortSecretBytes = 4;

}  // namespace

CancelKey make_cancel_key(const CancelKeyRandom& random, std::uint32_t protocol_version,
                          std::uint32_t router_number) {
  SLUICE_ASSERT(router_number <= CancelKey::kRouterNumberMax);
  CancelKey key;
  const std::uint32_t local = ByteReader(random).u32().value_or(0) & kLocalMask;
  // Zero would mean "no process".
  key.process_id = static_cast<std::int32_t>(router_number << kLocalBits | std::max(local, 1u));
  const std::size_t bytes = protocol_version >= kProtocol32 ? CancelKey::kSecretBytesMax : kShortSecretBytes;
  key.secret_bytes = static_cast<std::uint8_t>(bytes);
  std::copy_n(random.begin() + 4, bytes, key.secret_store.begin());
  return key;
}

std::uint32_t router_number_of(std::int32_t process_id) noexcept {
  return static_cast<std::uint32_t>(process_id) >> kLocalBits & CancelKey::kRouterNumberMax;
}

bool secrets_equal(ByteView a, ByteView b) noexcept {
  if (a.size() != b.size()) return false;
  std::byte difference{};
  for (std::size_t i = 0; i < a.size(); ++i)
    difference |= a[i] ^ b[i];
  return difference == std::byte{};
}

}  // namespace sluice::protocol
