#include "net/tls_context.h"

#include <array>
#include <cstring>

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/objects.h>
#include <openssl/x509.h>

#include "net/net_error.h"
#include "net/tls_session.h"

namespace sluice::net {
namespace {

constexpr std::string_view kAlpn = "\x0apostgresql";  // length byte first, as on the wire
constexpr std::string_view kSessionIdContext = "sluice";

// The first error of OpenSSL's queue as text; the later ones only repeat it from further out.
std::string openssl_reason() {
  const unsigned long packed = ERR_get_error();
  ERR_clear_error();
  if (ERR_SYSTEM_ERROR(packed)) return std::generic_category().message(ERR_GET_REASON(packed));
  const char* reason = ERR_reason_error_string(packed);
  return reason != nullptr ? reason : "unknown reason";
}

// Fails with one line about `what`, e.g. "cannot use key file /x/server.key: key values mismatch".
Error failure(std::string& problem, const std::string& what, const std::string& reason) {
  problem = what.empty() ? reason : "cannot use " + what + ": " + reason;
  return NetErrc::TlsConfiguration;
}

int refuse_passphrase(char*, int, int, void* asked) {
  *static_cast<bool*>(asked) = true;
  return 0;
}

int openssl_version(TlsVersion version) {
  return version == TlsVersion::Tls12 ? TLS1_2_VERSION : TLS1_3_VERSION;
}

// PostgreSQL 17's rule: a client that names protocols must name ours.
int select_alpn(SSL*, const unsigned char** chosen, unsigned char* chosen_size, const unsigned char* offered,
                unsigned int offered_size, void*) {
  unsigned char* selected = nullptr;
  const int found =
      SSL_select_next_proto(&selected, chosen_size, reinterpret_cast<const unsigned char*>(kAlpn.data()),
                            static_cast<unsigned int>(kAlpn.size()), offered, offered_size);
  *chosen = selected;
  return found == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

Result<void> set_common(SSL_CTX* context, TlsVersions versions, const std::string& ciphers,
                        const std::string& cipher_suites, std::string& problem) {
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_max_send_fragment(context, kTlsRecordBytesMax);
  SSL_CTX_set_read_ahead(context, 1);  // one recv for a record's header and body
  if (versions.minimum > versions.maximum) {
    return failure(problem, "", "the lowest TLS version allowed is above the highest");
  }
  SSL_CTX_set_min_proto_version(context, openssl_version(versions.minimum));
  SSL_CTX_set_max_proto_version(context, openssl_version(versions.maximum));
  if (!ciphers.empty() && SSL_CTX_set_cipher_list(context, ciphers.c_str()) != 1) {
    return failure(problem, "TLS cipher list '" + ciphers + "'", openssl_reason());
  }
  if (!cipher_suites.empty() && SSL_CTX_set_ciphersuites(context, cipher_suites.c_str()) != 1) {
    return failure(problem, "TLS 1.3 cipher suites '" + cipher_suites + "'", openssl_reason());
  }
  return {};
}

Result<void> load_certificate(SSL_CTX* context, const std::string& certificate_file,
                              const std::string& key_file, std::string& problem) {
  if (certificate_file.empty()) return failure(problem, "", "no certificate file is set for TLS");
  if (key_file.empty()) {
    return failure(problem, "certificate file " + certificate_file, "no key file is set for it");
  }
  if (SSL_CTX_use_certificate_chain_file(context, certificate_file.c_str()) != 1) {
    return failure(problem, "certificate file " + certificate_file, openssl_reason());
  }
  bool passphrase_asked = false;  // never prompt on a terminal
  SSL_CTX_set_default_passwd_cb(context, refuse_passphrase);
  SSL_CTX_set_default_passwd_cb_userdata(context, &passphrase_asked);
  const int used = SSL_CTX_use_PrivateKey_file(context, key_file.c_str(), SSL_FILETYPE_PEM);
  SSL_CTX_set_default_passwd_cb_userdata(context, nullptr);
  SSL_CTX_set_default_passwd_cb(context, nullptr);
  if (used == 1) return {};
  const std::string reason = openssl_reason();
  if (passphrase_asked) {
    return failure(problem, "key file " + key_file, "it is encrypted; use one without a passphrase");
  }
  if (reason == "key values mismatch" || reason == "key type mismatch") {
    return failure(problem, "key file " + key_file,
                   "it does not belong to certificate file " + certificate_file);
  }
  return failure(problem, "key file " + key_file, reason);
}

Result<void> load_ca(SSL_CTX* context, const std::string& ca_file, std::string& problem) {
  if (ca_file.empty()) return failure(problem, "", "certificates are to be verified, but no CA file is set");
  if (ca_file == "system") {
    if (SSL_CTX_set_default_verify_paths(context) == 1) return {};
    return failure(problem, "the system's CA store", openssl_reason());
  }
  if (SSL_CTX_load_verify_file(context, ca_file.c_str()) == 1) return {};
  return failure(problem, "CA file " + ca_file, openssl_reason());
}

}  // namespace

Result<TlsVersions> parse_tls_protocols(std::string_view text) {
  if (text == "secure" || text == "default" || text == "all") return TlsVersions{};
  bool v12 = false;
  bool v13 = false;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    std::string_view name = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    while (name.starts_with(' '))
      name.remove_prefix(1);
    while (name.ends_with(' '))
      name.remove_suffix(1);
    if (name == "tlsv1.2") {
      v12 = true;
    } else if (name == "tlsv1.3") {
      v13 = true;
    } else {
      return NetErrc::TlsConfiguration;
    }
  }
  if (!v12 && !v13) return NetErrc::TlsConfiguration;
  return TlsVersions{v12 ? TlsVersion::Tls12 : TlsVersion::Tls13,
                     v13 ? TlsVersion::Tls13 : TlsVersion::Tls12};
}

TlsContext::~TlsContext() {
  SSL_CTX_free(context_);
}

Result<std::shared_ptr<const TlsContext>> TlsContext::server(const TlsServerSettings& settings,
                                                             std::string& problem) {
  ERR_clear_error();
  const std::shared_ptr<TlsContext> made(new TlsContext(SSL_CTX_new(TLS_server_method())));
  SSL_CTX* context = made->context_;
  if (context == nullptr) return failure(problem, "OpenSSL", openssl_reason());
  Result<void> done =
      set_common(context, settings.versions, settings.ciphers, settings.cipher_suites, problem);
  if (done) done = load_certificate(context, settings.certificate_file, settings.key_file, problem);
  if (!done) return done.error();
  SSL_CTX_set_options(context, SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_dh_auto(context, 1);
  SSL_CTX_set_alpn_select_cb(context, select_alpn, nullptr);
  SSL_CTX_set_session_id_context(context, reinterpret_cast<const unsigned char*>(kSessionIdContext.data()),
                                 static_cast<unsigned int>(kSessionIdContext.size()));
  if (!settings.session_tickets) SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
  SSL_CTX_set_num_tickets(context, settings.session_tickets ? 1 : 0);
  if (settings.client_certificate != ClientCertificate::Ignore) {
    done = load_ca(context, settings.ca_file, problem);
    if (!done) return done.error();
    // The names of the CAs let a client choose among its certificates; the system's store would be too long a
    // list.
    if (settings.ca_file != "system") {
      SSL_CTX_set_client_CA_list(context, SSL_load_client_CA_file(settings.ca_file.c_str()));
    }
    const bool required = settings.client_certificate == ClientCertificate::Require;
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | (required ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0), nullptr);
  }
  made->own_end_point_hash_ = end_point_hash(SSL_CTX_get0_certificate(context));
  ERR_clear_error();
  return std::shared_ptr<const TlsContext>(made);
}

Result<std::shared_ptr<const TlsContext>> TlsContext::client(const TlsClientSettings& settings,
                                                             std::string& problem) {
  ERR_clear_error();
  const std::shared_ptr<TlsContext> made(new TlsContext(SSL_CTX_new(TLS_client_method())));
  SSL_CTX* context = made->context_;
  if (context == nullptr) return failure(problem, "OpenSSL", openssl_reason());
  Result<void> done =
      set_common(context, settings.versions, settings.ciphers, settings.cipher_suites, problem);
  if (!done) return done.error();
  if (!settings.certificate_file.empty() || !settings.key_file.empty()) {
    done = load_certificate(context, settings.certificate_file, settings.key_file, problem);
    if (!done) return done.error();
    made->own_end_point_hash_ = end_point_hash(SSL_CTX_get0_certificate(context));
  }
  made->verification_ = settings.verification;
  if (settings.verification != PeerVerification::None) {
    done = load_ca(context, settings.ca_file, problem);
    if (!done) return done.error();
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  }
  SSL_CTX_set_alpn_protos(context, reinterpret_cast<const unsigned char*>(kAlpn.data()),
                          static_cast<unsigned int>(kAlpn.size()));
  ERR_clear_error();
  return std::shared_ptr<const TlsContext>(made);
}

Bytes end_point_hash(const X509* certificate) {
  if (certificate == nullptr) return {};
  // Not OBJ_find_sigid_algs: for RSA-PSS the hash stands in the signature's parameters.
  int digest_nid = NID_undef;
  if (X509_get_signature_info(const_cast<X509*>(certificate), &digest_nid, nullptr, nullptr, nullptr) != 1) {
    ERR_clear_error();
    return {};
  }
  if (digest_nid == NID_md5 || digest_nid == NID_sha1) digest_nid = NID_sha256;
  const EVP_MD* digest = digest_nid == NID_undef ? nullptr : EVP_get_digestbynid(digest_nid);
  if (digest == nullptr) return {};
  std::array<unsigned char, EVP_MAX_MD_SIZE> hash{};
  unsigned int size = 0;
  if (X509_digest(certificate, digest, hash.data(), &size) != 1) return {};
  const auto* first = reinterpret_cast<const std::byte*>(hash.data());
  return {first, first + size};
}

}  // namespace sluice::net
