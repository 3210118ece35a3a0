#include <cstdio>

#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include "base/error.h"
#include "net/net_error.h"
#include "tests/net/net_test_support.h"
#include "tests/net/test_pki.h"

namespace sluice::net {
namespace {

using test::Handshake;
using test::TestPki;

class TlsHandshake : public testing::Test {
 protected:
  Handshake shake(std::shared_ptr<const TlsContext> client, std::shared_ptr<const TlsContext> server,
                  std::string name = "db.example", TlsRole role = TlsRole::Server) {
    ends.emplace(test::unix_pair(io.get_executor()));
    return test::shake_hands(io, ends->first, ends->second, std::move(client), std::move(server),
                             std::move(name), role);
  }
  // The client's reason to refuse the server, in words.
  std::string refusal(const std::string& certificate, const std::string& name, const std::string& ca = "ca") {
    const Handshake both = shake(pki.client(PeerVerification::Full, "", ca),
                                 pki.server(ClientCertificate::Ignore, certificate), name);
    return both.client ? "" : both.client.error().code.message();
  }

  asio::io_context io{1};
  TestPki pki;
  std::optional<std::pair<Stream, Stream>> ends;
};

TEST_F(TlsHandshake, GivesBothEndsTheSameViewOfTheServersCertificate) {
  const auto server = pki.server();
  ASSERT_TRUE(shake(pki.client(), server));
  EXPECT_EQ(ends->first.tls()->protocol_name(), "TLSv1.3");
  EXPECT_EQ(ends->first.tls()->alpn(), "postgresql");
  EXPECT_EQ(server->own_end_point_hash().size(), 32u);
  EXPECT_EQ(ends->first.tls()->peer_end_point_hash(), server->own_end_point_hash());
  EXPECT_EQ(ends->second.tls()->peer_common_name(), "");
}

TEST_F(TlsHandshake, HashesTheCertificateByItsSignaturesHash) {
  pki.make("sha384", {.common_name = "x", .digest = "SHA384"});
  pki.make("sha1", {.common_name = "x", .digest = "SHA1"});
  EXPECT_EQ(pki.server(ClientCertificate::Ignore, "sha384")->own_end_point_hash().size(), 48u);
  // OpenSSL's default security level refuses to serve this one, but a server of somebody else's may show it.
  FILE* file = std::fopen(pki.crt("sha1").c_str(), "r");
  X509* sha1 = PEM_read_X509(file, nullptr, nullptr, nullptr);
  EXPECT_EQ(end_point_hash(sha1).size(), 32u);
  X509_free(sha1);
  std::fclose(file);
  pki.make("ed-ca", {.common_name = "Ed CA", .digest = "", .key_type = "ED25519"}, "");
  pki.make("ed", {.common_name = "x", .digest = ""}, "ed-ca");
  EXPECT_TRUE(pki.server(ClientCertificate::Ignore, "ed")->own_end_point_hash().empty());
}

TEST_F(TlsHandshake, RefusesAServerOfAnotherAuthority) {
  EXPECT_EQ(refusal("server", "db.example", "other-ca"),
            "certificate verify failed: unable to get local issuer certificate");
  EXPECT_FALSE(shake(pki.client(PeerVerification::Ca, "", "other-ca"), pki.server()));
  EXPECT_TRUE(shake(pki.client(PeerVerification::None, "", "other-ca"), pki.server()));
}

TEST_F(TlsHandshake, RefusesAnExpiredServerCertificate) {
  pki.make("old", {.common_name = "db.example", .valid_days = -1});
  EXPECT_EQ(refusal("old", "db.example"), "certificate verify failed: certificate has expired");
}

TEST_F(TlsHandshake, ComparesTheHostNameOnlyUnderFullVerification) {
  EXPECT_EQ(refusal("server", "other.example"), "certificate verify failed: hostname mismatch");
  EXPECT_EQ(refusal("server", ""), "certificate verify failed: hostname mismatch");
  EXPECT_EQ(refusal("server", "db.example"), "");
  EXPECT_TRUE(shake(pki.client(PeerVerification::Ca), pki.server(), "other.example"));
}

TEST_F(TlsHandshake, ComparesNumericAddressesWithAddressEntriesOrALoneCommonName) {
  pki.make("names-only", {.common_name = "127.0.0.1", .alternative_names = "DNS:db.example"});
  pki.make("bare", {.common_name = "127.0.0.1"});
  pki.make("v6", {.common_name = "x", .alternative_names = "IP:0:0:0:0:0:0:0:1"});
  EXPECT_EQ(refusal("server", "127.0.0.1"), "");
  EXPECT_EQ(refusal("server", "127.0.0.2"), "certificate verify failed: IP address mismatch");
  EXPECT_EQ(refusal("names-only", "127.0.0.1"), "certificate verify failed: IP address mismatch");
  EXPECT_EQ(refusal("bare", "127.0.0.1"), "");
  EXPECT_EQ(refusal("v6", "::1"), "");
}

TEST_F(TlsHandshake, TakesTheNameOfAVerifiedClientCertificate) {
  pki.make("alice", {.common_name = "alice", .alternative_names = "DNS:bob"});
  for (const ClientCertificate mode : {ClientCertificate::Request, ClientCertificate::Require}) {
    ASSERT_TRUE(shake(pki.client(PeerVerification::Full, "alice"), pki.server(mode)));
    EXPECT_EQ(ends->second.tls()->peer_common_name(), "alice");
  }
  ASSERT_TRUE(shake(pki.client(), pki.server(ClientCertificate::Request)));
  EXPECT_EQ(ends->second.tls()->peer_common_name(), "");
}

TEST_F(TlsHandshake, RefusesAClientWithoutACertificateWhereOneIsRequired) {
  const Handshake both = shake(pki.client(), pki.server(ClientCertificate::Require));
  ASSERT_FALSE(both.server);
  EXPECT_EQ(both.server.error().code.message(), "peer did not return a certificate");
  EXPECT_EQ(both.server.error().side, Side::Client);
  EXPECT_TRUE(is_tls_error(both.server.error().code));
}

TEST_F(TlsHandshake, RefusesAClientOfAnotherAuthorityEvenWhereNoneIsRequired) {
  pki.make("mallory", {.common_name = "alice"}, "other-ca");
  const Handshake both =
      shake(pki.client(PeerVerification::Full, "mallory"), pki.server(ClientCertificate::Request));
  ASSERT_FALSE(both.server);
  EXPECT_EQ(both.server.error().code.message(),
            "certificate verify failed: unable to get local issuer certificate");
}

TEST_F(TlsHandshake, RefusesAClientNameWithAZeroByte) {
  pki.make("tricky", {.common_name = std::string("admin\0.evil", 11)});
  const Handshake both =
      shake(pki.client(PeerVerification::Full, "tricky"), pki.server(ClientCertificate::Require));
  ASSERT_FALSE(both.server);
  EXPECT_EQ(both.server.error().code, NetErrc::CertificateNameInvalid);
}

TEST_F(TlsHandshake, AsksForTheApplicationProtocolOnlyInDirectTls) {
  EXPECT_TRUE(shake(pki.client(), pki.server(), "db.example", TlsRole::DirectServer));
  const auto silent = pki.client();
  SSL_CTX_set_alpn_protos(silent->native(), nullptr, 0);
  EXPECT_TRUE(shake(silent, pki.server()));
  const Handshake direct = shake(silent, pki.server(), "db.example", TlsRole::DirectServer);
  ASSERT_FALSE(direct.server);
  EXPECT_EQ(direct.server.error().code, NetErrc::AlpnRequired);
  const auto web = pki.client();
  SSL_CTX_set_alpn_protos(web->native(), reinterpret_cast<const unsigned char*>("\x08http/1.1"), 9);
  EXPECT_FALSE(shake(web, pki.server()));
}

TEST_F(TlsHandshake, KeepsToTheVersionsAllowed) {
  std::string problem;
  TlsServerSettings settings{.certificate_file = pki.crt("server"), .key_file = pki.key("server")};
  settings.versions = *parse_tls_protocols("tlsv1.3");
  const auto only13 = *TlsContext::server(settings, problem);
  TlsClientSettings old;
  old.versions = *parse_tls_protocols("tlsv1.2");
  const auto only12 = *TlsContext::client(old, problem);
  const Handshake both = shake(only12, only13);
  ASSERT_FALSE(both.server);
  EXPECT_EQ(both.server.error().code.message(), "unsupported protocol");
  ASSERT_TRUE(shake(only12, pki.server()));
  EXPECT_EQ(ends->first.tls()->protocol_name(), "TLSv1.2");
}

TEST_F(TlsHandshake, ResumesASessionByItsTicketInBothVersions) {
  for (const char* version : {"tlsv1.2", "tlsv1.3"}) {
    const auto server = pki.server(ClientCertificate::Request);
    std::string problem;
    TlsClientSettings settings;
    settings.versions = *parse_tls_protocols(version);
    const auto client = *TlsContext::client(settings, problem);
    static SSL_SESSION* ticket;
    ticket = nullptr;
    SSL_CTX_set_session_cache_mode(client->native(), SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(client->native(), [](SSL*, SSL_SESSION* session) {
      SSL_SESSION_free(std::exchange(ticket, session));
      return 1;
    });
    ASSERT_TRUE(shake(client, server));
    EXPECT_FALSE(ends->second.tls()->resumed());
    EXPECT_FALSE(ends->first.has_pending_or_eof()) << "a ticket is not data";
    ASSERT_NE(ticket, nullptr) << version;
    ends.emplace(test::unix_pair(io.get_executor()));
    // The stream has no way to offer a session: clients of ours do not need one.
    auto session =
        *TlsSession::make(client, TlsRole::Client, "db.example", ends->first.socket().native_handle());
    SSL_set_session(session->native(), ticket);
    SSL_SESSION_free(ticket);
    auto accepted = *TlsSession::make(server, TlsRole::Server, "", ends->second.socket().native_handle());
    for (int round = 0; round < 6; ++round) {
      session->handshake();
      accepted->handshake();
    }
    EXPECT_TRUE(accepted->resumed()) << version;
    EXPECT_EQ(session->handshake().status, IoStatus::Ok);
  }
}

TEST_F(TlsHandshake, FailsOnWhatIsNoTls) {
  ends.emplace(test::unix_pair(io.get_executor()));
  test::raw_send(ends->first, as_bytes("GET / HTTP/1.1\r\n\r\n"));
  Result<void> result;
  test::run(io,
            [](Stream& stream, std::shared_ptr<const TlsContext> context,
               Result<void>& out) -> asio::awaitable<void> {
              out = co_await stream.handshake(std::move(context), TlsRole::Server, "");
            }(ends->second, pki.server(), result));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code.message(), "http request");
}

TEST(TlsContext, NamesTheFileAndTheReasonOfEachMistake) {
  TestPki pki;
  pki.make("stranger", {.common_name = "x"});
  pki.write("junk.key", "not a key");
  std::string problem;
  const auto server = [&](TlsServerSettings settings) {
    problem.clear();
    const auto made = TlsContext::server(settings, problem);
    EXPECT_FALSE(made);
    return problem;
  };
  const std::string crt = pki.crt("server");
  const std::string key = pki.key("server");
  EXPECT_EQ(server({.certificate_file = "/nowhere.crt", .key_file = key}),
            "cannot use certificate file /nowhere.crt: No such file or directory");
  EXPECT_EQ(server({.certificate_file = crt, .key_file = "/nowhere.key"}),
            "cannot use key file /nowhere.key: No such file or directory");
  EXPECT_EQ(server({.certificate_file = crt}),
            "cannot use certificate file " + crt + ": no key file is set for it");
  EXPECT_EQ(server({.certificate_file = crt, .key_file = pki.key("stranger")}),
            "cannot use key file " + pki.key("stranger") + ": it does not belong to certificate file " + crt);
  EXPECT_TRUE(server({.certificate_file = crt, .key_file = pki.directory() + "/junk.key"})
                  .starts_with("cannot use key file " + pki.directory() + "/junk.key: "));
  EXPECT_EQ(
      server({.certificate_file = crt, .key_file = key, .client_certificate = ClientCertificate::Require}),
      "certificates are to be verified, but no CA file is set");
  EXPECT_EQ(server({.certificate_file = crt, .key_file = key, .ciphers = "NONSENSE"}),
            "cannot use TLS cipher list 'NONSENSE': no cipher match");
  EXPECT_EQ(server({}), "no certificate file is set for TLS");
}

TEST(TlsProtocols, ReadsPgBouncersNotationFromTls12Up) {
  EXPECT_EQ(*parse_tls_protocols("secure"), TlsVersions{});
  EXPECT_EQ(*parse_tls_protocols("tlsv1.2, tlsv1.3"), TlsVersions{});
  EXPECT_EQ(parse_tls_protocols("tlsv1.3")->minimum, TlsVersion::Tls13);
  for (const char* bad : {"", "tlsv1.0", "tlsv1.2;tlsv1.3", "ssl", ","})
    EXPECT_FALSE(parse_tls_protocols(bad)) << bad;
}

}  // namespace
}  // namespace sluice::net
