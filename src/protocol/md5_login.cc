#include "protocol/md5_login.h"

#include "base/bytes.h"
#include "protocol/crypto.h"

namespace sluice::protocol {
namespace {

constexpr std::string_view kPrefix = "md5";

std::optional<std::string> prefixed(std::optional<std::string> hex) {
  if (hex) hex->insert(0, kPrefix);
  return hex;
}

}  // namespace

std::optional<std::string> md5_hash(std::string_view user, std::string_view password) {
  return prefixed(md5_hex({as_bytes(password), as_bytes(user)}));
}

std::optional<std::string> md5_response(std::string_view stored, const std::array<std::byte, 4>& salt) {
  if (stored.substr(0, kPrefix.size()) != kPrefix) return std::nullopt;
  return prefixed(md5_hex({as_bytes(stored.substr(kPrefix.size())), salt}));
}

}  // namespace sluice::protocol
