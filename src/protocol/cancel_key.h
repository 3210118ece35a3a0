#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/bytes.h"

namespace sluice::protocol {

// The BackendKeyData that Sluice gives a client in place of the server's: one of its own per session, so that
// a cancel finds the session's present server, or nobody, and never another client. Shape:  the process id is
// positive (clients choke on others): bit 30 is 0, bits 18-29 hold the router's number and
//         bits 0-17 come from the random bytes. The secret is all random: 4 bytes under protocol 3.0, 32
//         under 3.2. The process id only spreads; whoever compares keys must compare secrets too, in constant
//         time.
struct CancelKey {
  static constexpr std::size_t kSecretBytesMax = 32;
  static constexpr std::uint32_t kRouterNumberMax = 0xFFF;

  std::int32_t process_id = 0;
  std::uint8_t secret_bytes = 0;
  std::array<std::byte, kSecretBytesMax> secret_store{};

  ByteView secret() const noexcept { return ByteView(secret_store).first(secret_bytes); }
  friend bool operator==(const CancelKey&, const CancelKey&) = default;
};

// What a new key is made of: fresh from a cryptographic source for each session.
using CancelKeyRandom = std::array<std::byte, CancelKey::kSecretBytesMax + 4>;

// `protocol_version`: what was granted to the client (kProtocol30, kProtocol32).
// `router_number`: at most kRouterNumberMax; 0 when there is one router.
CancelKey make_cancel_key(const CancelKeyRandom& random, std::uint32_t protocol_version,
                          std::uint32_t router_number);

// The router that issued a key with this process id.
std::uint32_t router_number_of(std::int32_t process_id) noexcept;

// Same length and bytes; the time taken depends on the lengths alone.
bool secrets_equal(ByteView a, ByteView b) noexcept;

}  // namespace sluice::protocol
