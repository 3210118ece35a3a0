#include "net/peer_name.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>

#include "net/net_error.h"

namespace sluice::net {
namespace {

bool has_alternative_names(X509* certificate) {
  auto* names =
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
  bool found = false;
  for (int i = 0; i < sk_GENERAL_NAME_num(names); ++i) {
    const int type = sk_GENERAL_NAME_value(names, i)->type;
    found = found || type == GEN_DNS || type == GEN_IPADD;
  }
  GENERAL_NAMES_free(names);
  return found;
}

}  // namespace

bool is_ip_address(const std::string& host) noexcept {
  in6_addr parsed{};
  return inet_pton(AF_INET, host.c_str(), &parsed) == 1 || inet_pton(AF_INET6, host.c_str(), &parsed) == 1;
}

std::error_code check_host(const X509* certificate, const std::string& host) {
  if (certificate == nullptr) return make_verify_error(X509_V_ERR_UNSPECIFIED);
  auto* cert = const_cast<X509*>(certificate);  // OpenSSL's checks only read
  bool matches = false;
  if (!is_ip_address(host)) {
    matches = !host.empty() && X509_check_host(cert, host.data(), host.size(),
                                               X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS, nullptr) == 1;
  } else if (X509_check_ip_asc(cert, host.c_str(), 0) == 1) {
    matches = true;
  } else if (!has_alternative_names(cert)) {
    const Result<std::string> name = common_name(certificate);
    matches = name && *name == host;
  }
  ERR_clear_error();
  if (matches) return {};
  return make_verify_error(is_ip_address(host) ? X509_V_ERR_IP_ADDRESS_MISMATCH
                                               : X509_V_ERR_HOSTNAME_MISMATCH);
}

Result<std::string> common_name(const X509* certificate) {
  const X509_NAME* subject = X509_get_subject_name(certificate);
  const int index = X509_NAME_get_index_by_NID(const_cast<X509_NAME*>(subject), NID_commonName, -1);
  if (index < 0) return std::string();
  const ASN1_STRING* value = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, index));
  unsigned char* text = nullptr;
  const int size = ASN1_STRING_to_UTF8(&text, value);
  if (size < 0) {
    ERR_clear_error();
    return NetErrc::CertificateNameInvalid;
  }
  std::string name(reinterpret_cast<const char*>(text), static_cast<std::size_t>(size));
  OPENSSL_free(text);
  if (name.find('\0') != std::string::npos) return NetErrc::CertificateNameInvalid;
  return name;
}

}  // namespace sluice::net
