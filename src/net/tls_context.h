#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <openssl/ssl.h>

#include "base/bytes.h"
#include "base/result.h"

namespace sluice::net {

enum class TlsVersion { Tls12, Tls13 };

// The protocol versions allowed, both ends included.
struct TlsVersions {
  TlsVersion minimum = TlsVersion::Tls12;
  TlsVersion maximum = TlsVersion::Tls13;
  friend bool operator==(const TlsVersions&, const TlsVersions&) = default;
};

// PgBouncer's notation: "secure", "default" or "all" (each: everything from TLS 1.2 on), or a comma-separated
// list of tlsv1.2 and tlsv1.3. Older versions are not offered: naming them is NetErrc::TlsConfiguration.
Result<TlsVersions> parse_tls_protocols(std::string_view text);

enum class ClientCertificate {
  Ignore,   // not asked for
  Request,  // asked for; one that is given must verify
  Require,  // without one that verifies the handshake fails
};

struct TlsServerSettings {
  std::string certificate_file{};  // PEM, our certificate first, then the chain
  std::string key_file{};          // PEM, not encrypted
  std::string ca_file{};           // PEM; who may sign client certificates. Needed unless Ignore
  ClientCertificate client_certificate = ClientCertificate::Ignore;
  TlsVersions versions{};
  std::string ciphers{};        // OpenSSL's notation, TLS 1.2; empty = OpenSSL's default
  std::string cipher_suites{};  // TLS 1.3; empty = OpenSSL's default
  bool session_tickets = true;  // resumption without state on our side
};

// What a client checks of the server's certificate: libpq's sslmode verify-full is Full, verify-ca is Ca, the
// four others None (except that libpq treats require with a CA file as verify-ca: the caller's decision).
enum class PeerVerification { None, Ca, Full };

struct TlsClientSettings {
  PeerVerification verification = PeerVerification::None;
  std::string ca_file{};           // PEM; "system" = the operating system's store. Needed unless None
  std::string certificate_file{};  // our client certificate; empty = none
  std::string key_file{};
  TlsVersions versions{};
  std::string ciphers{};
  std::string cipher_suites{};
};

// The settled settings of one side of TLS: immutable, shared by all threads and by the connections made with
// it. A reload makes a new one; connections made with the old one keep it. It holds no table of sessions
// (tickets are the clients' to keep).
class TlsContext {
 public:
  // On an error `problem` says in one line which file, and why ("cannot use key file /x/server.key: key
  // values mismatch").
  static Result<std::shared_ptr<const TlsContext>> server(const TlsServerSettings&, std::string& problem);
  static Result<std::shared_ptr<const TlsContext>> client(const TlsClientSettings&, std::string& problem);

  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;
  ~TlsContext();

  // Channel binding tls-server-end-point of our own certificate. Empty without one, and for certificates
  // whose signature names no hash (Ed25519), where RFC 5929 defines none.
  const Bytes& own_end_point_hash() const noexcept { return own_end_point_hash_; }
  PeerVerification verification() const noexcept { return verification_; }
  SSL_CTX* native() const noexcept { return context_; }

 private:
  explicit TlsContext(SSL_CTX* owned) : context_(owned) {}

  SSL_CTX* context_;
  Bytes own_end_point_hash_;
  PeerVerification verification_ = PeerVerification::None;
};

// RFC 5929 section 4.1: the certificate's hash under its signature's hash function, SHA-256 in place of MD5
// and SHA-1. Empty where the signature names none.
Bytes end_point_hash(const X509* certificate);

}  // namespace sluice::net
