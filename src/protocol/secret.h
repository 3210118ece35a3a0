#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <variant>

#include "base/bytes.h"
#include "base/result.h"

namespace sluice::protocol {

// What we know about a user: a line of a user list, or pg_authid.rolpassword.

inline constexpr std::size_t kScramKeyBytes = 32;
using ScramKey = std::array<std::byte, kScramKeyBytes>;
inline constexpr std::uint32_t kScramIterationsDefault = 4096;  // PostgreSQL's own
// More is refused wherever it is read: a client or we would have to compute it.
inline constexpr std::uint32_t kScramIterationsMax = 1'000'000;
inline constexpr std::size_t kScramSaltBytesMax = 1024;

struct UnknownUser {
  friend bool operator==(const UnknownUser&, const UnknownUser&) = default;
};
struct PlainPassword {
  std::string password;
  friend bool operator==(const PlainPassword&, const PlainPassword&) = default;
};
struct Md5Hash {
  std::string text;  // "md5" and 32 lower-case hexadecimal digits
  friend bool operator==(const Md5Hash&, const Md5Hash&) = default;
};
struct ScramVerifier {
  std::uint32_t iterations = kScramIterationsDefault;
  Bytes salt;
  ScramKey stored_key{};
  ScramKey server_key{};
  friend bool operator==(const ScramVerifier&, const ScramVerifier&) = default;
};
using Secret = std::variant<UnknownUser, PlainPassword, Md5Hash, ScramVerifier>;

// What a SCRAM proof reveals to the server: enough to log in as that user wherever the same verifier is
// stored, as on every physical replica. As secret as a password.
struct ClientKeys {
  ScramKey client_key{};
  ScramKey server_key{};
  friend bool operator==(const ClientKeys&, const ClientKeys&) = default;
};

enum class SecretErrc { MalformedVerifier = 1, IterationsOutOfRange };
std::error_code make_error_code(SecretErrc e) noexcept;

// "md5<32 hex>", "SCRAM-SHA-256$<iterations>:<salt>$<StoredKey>:<ServerKey>" (base64), else a plain password;
// "" (rolpassword NULL) is UnknownUser. Errors: a text that begins as a SCRAM verifier and is none, or whose
// iterations are not in 1..kScramIterationsMax: never taken for a password, unlike in PostgreSQL, where it
// would be a login by a leaked file's typing mistake.
Result<Secret> parse_secret(std::string_view text);

}  // namespace sluice::protocol

template <>
struct std::is_error_code_enum<sluice::protocol::SecretErrc> : std::true_type {};
