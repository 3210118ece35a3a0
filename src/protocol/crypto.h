#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "protocol/secret.h"

namespace sluice::protocol {

// The primitives of SCRAM and MD5 authentication, by OpenSSL. All are pure; a failure inside OpenSSL (it has
// no memory, or no SHA-256) is an internal error.

ScramKey sha256(ByteView bytes);
ScramKey hmac_sha256(ByteView key, ByteView message);
// RFC 5802's Hi(): PBKDF2-HMAC-SHA-256, one block. iterations >= 1.
ScramKey pbkdf2_sha256(std::string_view password, ByteView salt, std::uint32_t iterations);
ScramKey exclusive_or(const ScramKey& a, const ScramKey& b);
// Takes the same time wherever the difference is; lengths are no secret.
bool equal_in_constant_time(ByteView a, ByteView b);

std::string base64_encode(ByteView bytes);
// Strict: padded, no white space, nothing else. nullopt otherwise.
std::optional<Bytes> base64_decode(std::string_view text);

// 32 lower-case hexadecimal digits; nullopt where OpenSSL refuses MD5 (FIPS).
std::optional<std::string> md5_hex(std::initializer_list<ByteView> parts);

}  // namespace sluice::protocol
