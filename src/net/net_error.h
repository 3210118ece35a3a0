#pragma once

#include <system_error>
#include <type_traits>

#include "base/result.h"

namespace sluice::net {

enum class NetErrc {
  BadAddress = 1,          // neither a numeric address, a host name nor a socket path
  TooManyLookups,          // the bound on concurrent name lookups is reached
  TlsConfiguration,        // certificate, key, CA, protocols or ciphers cannot be used
  AlpnRequired,            // direct TLS without the application protocol "postgresql"
  CertificateNameInvalid,  // the client certificate's common name has a zero byte or cannot be read
};

std::error_code make_error_code(NetErrc e) noexcept;

// A packed OpenSSL error (ERR_get_error); its message is OpenSSL's reason text ("tlsv1 alert unknown ca").
std::error_code make_tls_error(unsigned long packed) noexcept;

// A verification result (X509_V_ERR_*); its message names the reason ("certificate verify failed: ...").
std::error_code make_verify_error(long verify_result) noexcept;

// True for a failure of the TLS protocol or of a certificate, as against one of the network below it.
bool is_tls_error(std::error_code code) noexcept;

// A code from one of Asio's operations as an Error: end of stream is BaseErrc::Closed, an abort
// BaseErrc::Cancelled, and a system error comes in std::system_category. Asio's own category of system errors
// compares equal to no std::errc.
Error from_io(std::error_code code, Side side, Retry retry = Retry::No) noexcept;
// The same, of a server that cannot be reached: another one may do.
inline Error unreachable(std::error_code code) noexcept {
  return from_io(code, Side::Server, Retry::Yes);
}

}  // namespace sluice::net

template <>
struct std::is_error_code_enum<sluice::net::NetErrc> : std::true_type {};
