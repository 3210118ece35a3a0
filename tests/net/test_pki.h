#pragma once

#include <string>
#include <vector>

#include "net/tls_context.h"

namespace sluice::net::test {

struct CertificateRequest {
  std::string common_name{};
  std::string alternative_names{};  // OpenSSL's notation: "DNS:db.example,IP:127.0.0.1"; empty = none
  std::string digest = "SHA256";    // empty = what the key prescribes (Ed25519)
  std::string key_type = "EC";      // EC or ED25519
  int valid_days = 1;               // below 0: expired
};

// A certificate authority and certificates in a temporary directory that goes with it.
class TestPki {
 public:
  TestPki();
  TestPki(const TestPki&) = delete;
  TestPki& operator=(const TestPki&) = delete;
  ~TestPki();

  // Writes <name>.crt and <name>.key, signed by `issuer` ("" = by itself, as an authority).
  void make(const std::string& name, const CertificateRequest& request, const std::string& issuer = "ca");
  std::string crt(const std::string& name) const { return directory_ + "/" + name + ".crt"; }
  std::string key(const std::string& name) const { return directory_ + "/" + name + ".key"; }
  const std::string& directory() const { return directory_; }
  void write(const std::string& file, const std::string& text) const;

  // Contexts that must come off. The server's certificate is "server" (db.example, 127.0.0.1).
  std::shared_ptr<const TlsContext> server(ClientCertificate mode = ClientCertificate::Ignore,
                                           const std::string& name = "server") const;
  std::shared_ptr<const TlsContext> client(PeerVerification verification = PeerVerification::Full,
                                           const std::string& certificate = "",
                                           const std::string& ca = "ca") const;

 private:
  std::string directory_;
};

}  // namespace sluice::net::test
