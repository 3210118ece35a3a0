#include "net/net_error.h"

#include <string>

#include <asio/error.hpp>
#include <openssl/err.h>
#include <openssl/x509.h>

#include "base/error.h"

namespace sluice::net {
namespace {

class NetCategory final : public std::error_category {
 public:
  const char* name() const noexcept override { return "net"; }
  std::string message(int value) const override {
    switch (static_cast<NetErrc>(value)) {
      case NetErrc::BadAddress:
        return "not an address, a host name or a socket path";
      case NetErrc::TooManyLookups:
        return "too many name lookups at the same time";
      case NetErrc::TlsConfiguration:
        return "TLS settings cannot be used";
      case NetErrc::AlpnRequired:
        return "direct TLS needs the application protocol \"postgresql\" (ALPN)";
      case NetErrc::CertificateNameInvalid:
        return "the certificate's common name is not valid text";
    }
    return "unknown error";
  }
};

class TlsCategory final : public std::error_category {
 public:
  const char* name() const noexcept override { return "tls"; }
  std::string message(int value) const override {
    const char* reason = ERR_reason_error_string(static_cast<unsigned int>(value));
    return reason != nullptr ? reason : "TLS failed, error " + std::to_string(value);
  }
};

class VerifyCategory final : public std::error_category {
 public:
  const char* name() const noexcept override { return "tls-verify"; }
  std::string message(int value) const override {
    return std::string("certificate verify failed: ") + X509_verify_cert_error_string(value);
  }
};

const NetCategory kNetCategory;
const TlsCategory kTlsCategory;
const VerifyCategory kVerifyCategory;

}  // namespace

std::error_code make_error_code(NetErrc e) noexcept {
  return {static_cast<int>(e), kNetCategory};
}

std::error_code make_tls_error(unsigned long packed) noexcept {
  return {static_cast<int>(static_cast<unsigned int>(packed)), kTlsCategory};
}

std::error_code make_verify_error(long verify_result) noexcept {
  return {static_cast<int>(verify_result), kVerifyCategory};
}

bool is_tls_error(std::error_code code) noexcept {
  return code.category() == kTlsCategory || code.category() == kVerifyCategory ||
         code == NetErrc::AlpnRequired || code == NetErrc::CertificateNameInvalid;
}

Error from_io(std::error_code code, Side side, Retry retry) noexcept {
  if (code == asio::error::eof) return Error(BaseErrc::Closed, side, retry);
  if (code == asio::error::operation_aborted) return Error(BaseErrc::Cancelled, side, retry);
  if (code.category() == asio::error::get_system_category()) code = {code.value(), std::system_category()};
  return Error(code, side, retry);
}

}  // namespace sluice::net
