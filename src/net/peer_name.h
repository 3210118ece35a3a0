#pragma once

#include <string>
#include <system_error>

#include <openssl/x509.h>

#include "base/result.h"

namespace sluice::net {

bool is_ip_address(const std::string& host) noexcept;

// Whether a server's certificate is for `host`, by libpq's rules: a name against the dNSName entries, or
// against the common name when there is no such entry; a numeric address against the iPAddress entries, or
// textually against the common name when there is neither kind. No error, or a make_verify_error.
std::error_code check_host(const X509* certificate, const std::string& host);

// The subject's (first) common name in UTF-8, "" without one. NetErrc::CertificateNameInvalid for a zero byte
// inside, by which "admin\0.evil.example" would pass for "admin", and for what is no text.
Result<std::string> common_name(const X509* certificate);

}  // namespace sluice::net
