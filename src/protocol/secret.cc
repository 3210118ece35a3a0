#include "protocol/secret.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "protocol/crypto.h"
#include "protocol/scram.h"

namespace sluice::protocol {
namespace {

class SecretCategory final : public std::error_category {
 public:
  const char* name() const noexcept override { return "secret"; }
  std::string message(int value) const override {
    switch (static_cast<SecretErrc>(value)) {
      case SecretErrc::MalformedVerifier:
        return "malformed SCRAM-SHA-256 verifier";
      case SecretErrc::IterationsOutOfRange:
        return "SCRAM-SHA-256 verifier with an iteration count out of range";
    }
    return "unknown error";
  }
};

const SecretCategory kSecretCategory;

bool is_md5_hash(std::string_view text) {
  return text.size() == 35 && text.substr(0, 3) == "md5" &&
         text.find_first_not_of("0123456789abcdef", 3) == std::string_view::npos;
}

// Takes what stands before `separator` off the front of `rest`; nullopt when there is none.
std::optional<std::string_view> take_until(std::string_view& rest, char separator) {
  const std::size_t at = rest.find(separator);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view taken = rest.substr(0, at);
  rest.remove_prefix(at + 1);
  return taken;
}

bool decode_key(std::string_view text, ScramKey& key) {
  const auto bytes = base64_decode(text);
  if (!bytes || bytes->size() != key.size()) return false;
  std::copy(bytes->begin(), bytes->end(), key.begin());
  return true;
}

// What follows "SCRAM-SHA-256$".
Result<Secret> parse_verifier(std::string_view rest) {
  ScramVerifier verifier;
  const auto iterations = take_until(rest, ':');
  const auto salt = take_until(rest, '$');
  const auto stored_key = take_until(rest, ':');
  if (!iterations || !salt || !stored_key) return SecretErrc::MalformedVerifier;

  const char* end = iterations->data() + iterations->size();
  const auto [stop, error] = std::from_chars(iterations->data(), end, verifier.iterations);
  if (error == std::errc::result_out_of_range) return SecretErrc::IterationsOutOfRange;
  if (error != std::errc{} || stop != end) return SecretErrc::MalformedVerifier;
  if (verifier.iterations < 1 || verifier.iterations > kScramIterationsMax)
    return SecretErrc::IterationsOutOfRange;

  auto salt_bytes = base64_decode(*salt);
  if (!salt_bytes || salt_bytes->empty() || salt_bytes->size() > kScramSaltBytesMax)
    return SecretErrc::MalformedVerifier;
  verifier.salt = *std::move(salt_bytes);
  if (!decode_key(*stored_key, verifier.stored_key) || !decode_key(rest, verifier.server_key))
    return SecretErrc::MalformedVerifier;
  return Secret(std::move(verifier));
}

}  // namespace

std::error_code make_error_code(SecretErrc e) noexcept {
  return {static_cast<int>(e), kSecretCategory};
}

Result<Secret> parse_secret(std::string_view text) {
  if (text.empty()) return Secret(UnknownUser{});
  if (is_md5_hash(text)) return Secret(Md5Hash{std::string(text)});
  const std::size_t prefix = kScramSha256.size() + 1;
  if (text.substr(0, kScramSha256.size()) == kScramSha256 && text.substr(0, prefix).back() == '$')
    return parse_verifier(text.substr(prefix));
  return Secret(PlainPassword{std::string(text)});
}

}  // namespace sluice::protocol
