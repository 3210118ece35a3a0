#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace sluice::protocol {

// MD5 password authentication, both sides. Source: PostgreSQL manual, "Password Authentication" and
// AuthenticationMD5Password under "Message Flow".

// What is stored: "md5" + md5(password + user). nullopt where OpenSSL refuses MD5 (FIPS).
std::optional<std::string> md5_hash(std::string_view user, std::string_view password);
// What a PasswordMessage says: "md5" + md5(the stored text's 32 digits + salt).
std::optional<std::string> md5_response(std::string_view stored, const std::array<std::byte, 4>& salt);

}  // namespace sluice::protocol
