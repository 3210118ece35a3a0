#include "tests/net/test_pki.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

namespace sluice::net::test {
namespace {

template <auto Free>
struct Freed {
  template <class T>
  void operator()(T* p) const {
    Free(p);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Freed<X509_free>>;
using File = std::unique_ptr<FILE, Freed<std::fclose>>;

Key make_key(const std::string& type) {
  return Key(type == "EC" ? EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256")
                          : EVP_PKEY_Q_keygen(nullptr, nullptr, type.c_str()));
}

void add_extension(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
  ASSERT_NE(extension, nullptr) << value;
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

}  // namespace

TestPki::TestPki() {
  std::string directory = (std::filesystem::temp_directory_path() / "sluice-pki-XXXXXX").string();
  if (::mkdtemp(directory.data()) == nullptr) std::abort();
  directory_ = directory;
  make("ca", {.common_name = "Sluice test CA"}, "");
  make("other-ca", {.common_name = "Another CA"}, "");
  make("server", {.common_name = "db.example", .alternative_names = "DNS:db.example,IP:127.0.0.1"});
}

TestPki::~TestPki() {
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

void TestPki::write(const std::string& file, const std::string& text) const {
  std::ofstream(directory_ + "/" + file) << text;
}

void TestPki::make(const std::string& name, const CertificateRequest& request, const std::string& issuer) {
  static long serial = 1;
  const Key key_pair = make_key(request.key_type);
  ASSERT_NE(key_pair, nullptr);
  const Certificate certificate(X509_new());
  X509_set_version(certificate.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), serial++);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -3L * 86400);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), request.valid_days * 86400L);
  X509_set_pubkey(certificate.get(), key_pair.get());
  X509_NAME_add_entry_by_NID(X509_get_subject_name(certificate.get()), NID_commonName, MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(request.common_name.data()),
                             static_cast<int>(request.common_name.size()), -1, 0);
  Certificate issuer_certificate;
  Key issuer_key;
  if (!issuer.empty()) {
    issuer_certificate.reset(
        PEM_read_X509(File(std::fopen(crt(issuer).c_str(), "r")).get(), nullptr, nullptr, nullptr));
    issuer_key.reset(
        PEM_read_PrivateKey(File(std::fopen(key(issuer).c_str(), "r")).get(), nullptr, nullptr, nullptr));
  }
  X509* signer = issuer.empty() ? certificate.get() : issuer_certificate.get();
  X509_set_issuer_name(certificate.get(), X509_get_subject_name(signer));
  if (issuer.empty()) add_extension(certificate.get(), signer, NID_basic_constraints, "critical,CA:TRUE");
  if (!request.alternative_names.empty()) {
    add_extension(certificate.get(), signer, NID_subject_alt_name, request.alternative_names);
  }
  const EVP_MD* digest = request.digest.empty() ? nullptr : EVP_get_digestbyname(request.digest.c_str());
  ASSERT_GT(X509_sign(certificate.get(), issuer.empty() ? key_pair.get() : issuer_key.get(), digest), 0);
  PEM_write_X509(File(std::fopen(crt(name).c_str(), "w")).get(), certificate.get());
  PEM_write_PrivateKey(File(std::fopen(key(name).c_str(), "w")).get(), key_pair.get(), nullptr, nullptr, 0,
                       nullptr, nullptr);
}

std::shared_ptr<const TlsContext> TestPki::server(ClientCertificate mode, const std::string& name) const {
  std::string problem;
  TlsServerSettings settings{
      .certificate_file = crt(name), .key_file = key(name), .ca_file = "", .client_certificate = mode};
  if (mode != ClientCertificate::Ignore) settings.ca_file = crt("ca");
  auto made = TlsContext::server(settings, problem);
  EXPECT_TRUE(made) << problem;
  return made ? *made : nullptr;
}

std::shared_ptr<const TlsContext> TestPki::client(PeerVerification verification,
                                                  const std::string& certificate,
                                                  const std::string& ca) const {
  std::string problem;
  TlsClientSettings settings;
  settings.verification = verification;
  settings.ca_file = crt(ca);
  if (!certificate.empty()) {
    settings.certificate_file = crt(certificate);
    settings.key_file = key(certificate);
  }
  auto made = TlsContext::client(settings, problem);
  EXPECT_TRUE(made) << problem;
  return made ? *made : nullptr;
}

}  // namespace sluice::net::test
