#include <gtest/gtest.h>

#include "protocol/crypto.h"
#include "protocol/scram_client.h"
#include "protocol/scram_server.h"

namespace sluice::protocol {
namespace {

using Channel = ScramServer::Channel;
using Verdict = ScramServer::Verdict;
using Binding = ScramClient::Binding;

const Bytes kSalt = *base64_decode("W22ZaJ0SNY7soEsUEjb6gQ==");
const Bytes kCertificateHash(32, std::byte{7});

ScramVerifier pencil() {
  static const ScramVerifier verifier = scram_verifier("pencil", kSalt, 4096);
  return verifier;
}

ScramServer server(Channel channel = Channel::Plain, Bytes hash = {}, Verdict verdict = Verdict::ByProof) {
  return ScramServer(pencil(), verdict, channel, std::move(hash), "SERVERNONCE");
}

// Runs one exchange of both sides; gives the server's or the client's error.
std::error_code exchange(ScramServer scram_server, ScramClient client) {
  EXPECT_TRUE(scram_server.select(client.mechanism()));
  const auto server_first = scram_server.first(client.first());
  if (!server_first) return server_first.error().code;
  const auto client_final = client.final(*server_first);
  if (!client_final) return client_final.error().code;
  const auto success = scram_server.final(*client_final);
  if (!success) return success.error().code;
  const auto verified = client.verify(success->server_final);
  return verified ? std::error_code{} : verified.error().code;
}

ScramClient client_with(std::string password, Binding binding = Binding::NotSupported, Bytes hash = {}) {
  return ScramClient(PlainPassword{std::move(password)}, binding, std::move(hash), "clientnonce");
}

// RFC 7677, section 3.
TEST(ScramServer, AnswersTheExchangeOfRfc7677) {
  ScramServer scram(pencil(), Verdict::ByProof, Channel::Plain, {}, "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0");
  ASSERT_TRUE(scram.select(kScramSha256));
  const auto first = scram.first("n,,n=user,r=rOprNGfwEbeRWgbNEkqO");
  ASSERT_TRUE(first);
  EXPECT_EQ(*first, "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096");
  const auto final = scram.final(
      "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,"
      "p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=");
  ASSERT_TRUE(final);
  EXPECT_EQ(final->server_final, "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=");
  EXPECT_EQ(sha256(final->keys.client_key), pencil().stored_key);
  EXPECT_EQ(final->keys.server_key, pencil().server_key);
}

TEST(Scram, LetsPasswordAndRecoveredKeysInAndAWrongPasswordNot) {
  EXPECT_FALSE(exchange(server(), client_with("pencil")));
  EXPECT_EQ(exchange(server(), client_with("pencils")), ScramErrc::WrongProof);
  const ScramKey salted = pbkdf2_sha256("pencil", kSalt, 4096);
  const ClientKeys keys{hmac_sha256(salted, as_bytes("Client Key")), pencil().server_key};
  EXPECT_FALSE(exchange(server(), ScramClient(keys, Binding::NotSupported, {}, "clientnonce")));
}

TEST(Scram, LetsNobodyInWhereTheServerIsDoomed) {
  EXPECT_EQ(exchange(server(Channel::Plain, {}, Verdict::Doomed), client_with("pencil")),
            ScramErrc::WrongProof);
}

TEST(ScramServer, OffersPlusOverTlsWithABindingOnly) {
  EXPECT_EQ(server().mechanisms().size(), 1u);
  EXPECT_EQ(server(Channel::Plain, kCertificateHash).mechanisms().size(), 1u);
  EXPECT_EQ(server(Channel::Tls).mechanisms().size(), 1u);
  EXPECT_EQ(server(Channel::Tls, kCertificateHash).mechanisms(),
            (std::vector<std::string_view>{kScramSha256Plus, kScramSha256}));
}

// B16
TEST(Scram, HoldsTheChannelBindingRulesOfEveryFlag) {
  EXPECT_FALSE(exchange(server(Channel::Tls), client_with("pencil", Binding::NotSupported)));
  EXPECT_FALSE(exchange(server(Channel::Tls), client_with("pencil", Binding::NotOffered)));
  EXPECT_FALSE(
      exchange(server(Channel::Tls, kCertificateHash), client_with("pencil", Binding::NotSupported)));
  EXPECT_FALSE(exchange(server(Channel::Tls, kCertificateHash),
                        client_with("pencil", Binding::TlsServerEndPoint, kCertificateHash)));
  EXPECT_EQ(exchange(server(Channel::Tls, kCertificateHash), client_with("pencil", Binding::NotOffered)),
            ScramErrc::BindingDowngraded);
  EXPECT_EQ(exchange(server(Channel::Tls, kCertificateHash),
                     client_with("pencil", Binding::TlsServerEndPoint, Bytes(32, std::byte{8}))),
            ScramErrc::BindingMismatch);
}

TEST(ScramServer, RefusesMalformedFirstMessagesEachWithItsReason) {
  const auto first = [](std::string_view mechanism, std::string_view message) -> std::error_code {
    ScramServer scram = server(Channel::Tls, kCertificateHash);
    EXPECT_TRUE(scram.select(mechanism));
    const auto outcome = scram.first(message);
    return outcome ? std::error_code{} : outcome.error().code;
  };
  const auto plain = [&first](std::string_view message) { return first(kScramSha256, message); };
  EXPECT_EQ(plain(""), ScramErrc::MessageEmpty);
  EXPECT_FALSE(plain("n,,n=,r=x"));
  EXPECT_FALSE(plain("n,,n=any,r=x,z=ext"));
  EXPECT_EQ(plain("p=tls-server-end-point,,n=,r=x"), ScramErrc::BindingWithoutPlus);
  EXPECT_EQ(first(kScramSha256Plus, "n,,n=,r=x"), ScramErrc::PlusWithoutBinding);
  EXPECT_EQ(first(kScramSha256Plus, "y,,n=,r=x"), ScramErrc::PlusWithoutBinding);
  EXPECT_EQ(first(kScramSha256Plus, "p=tls-unique,,n=,r=x"), ScramErrc::BindingTypeUnsupported);
  EXPECT_EQ(first(kScramSha256Plus, "p,,n=,r=x"), ScramErrc::MessageMalformed);
  EXPECT_EQ(plain("n,a=other,n=,r=x"), ScramErrc::AuthorizationIdentity);
  EXPECT_EQ(plain("n,,m=ext,n=,r=x"), ScramErrc::ExtensionRequired);
  EXPECT_EQ(plain("n,,n=,r=a\tb"), ScramErrc::NonceNotPrintable);
  EXPECT_EQ(plain("n,,n=,r="), ScramErrc::NonceNotPrintable);
  for (const std::string_view bad : {"n", "n,", "n,,", "x,,n=,r=x", "n,,r=x", "n,,n=", "n,,n=,", "n,,n=,r=x,",
                                     "n,,n=,r=x,1", "nn,,n=,r=x"})
    EXPECT_EQ(plain(bad), ScramErrc::MessageMalformed) << bad;
  EXPECT_EQ(plain(std::string_view("n,,n=,r=x\0y", 11)), ScramErrc::MessageMalformed);
}

TEST(ScramServer, RefusesEveryTruncationAndEveryChangedByteOfAFinalMessage) {
  ScramServer scram = server();
  ASSERT_TRUE(scram.select(kScramSha256));
  ScramClient client = client_with("pencil");
  const std::string message = *client.final(*scram.first(client.first()));
  for (std::size_t i = 0; i < message.size(); ++i) {
    EXPECT_FALSE(ScramServer(scram).final(message.substr(0, i))) << i;
    std::string changed = message;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_FALSE(ScramServer(scram).final(changed)) << i;
  }
  EXPECT_FALSE(ScramServer(scram).final(message + ",x=y"));
  EXPECT_TRUE(scram.final(message));
}

TEST(ScramServer, ShowsUnknownUsersAStableSaltThatDependsOnTheName) {
  const ScramVerifier one = mock_verifier("ann", as_bytes("secret"), 4096);
  EXPECT_EQ(one, mock_verifier("ann", as_bytes("secret"), 4096));
  EXPECT_NE(one.salt, mock_verifier("bob", as_bytes("secret"), 4096).salt);
  EXPECT_NE(one.salt, mock_verifier("ann", as_bytes("other"), 4096).salt);
  EXPECT_EQ(one.salt, scram_verifier_for("ann", "pencil", as_bytes("secret"), 1).salt);
  EXPECT_EQ(one.salt.size(), 16u);
}

TEST(ScramClient, RefusesAHostileServer) {
  const auto final = [](std::string_view server_first) -> std::error_code {
    const auto outcome = client_with("pencil").final(server_first);
    return outcome ? std::error_code{} : outcome.error().code;
  };
  EXPECT_FALSE(final("r=clientnonceX,s=AAAA,i=1"));
  EXPECT_EQ(final("r=clientnonce,s=AAAA,i=1"), ScramErrc::ServerNonceForeign);
  EXPECT_EQ(final("r=Xclientnonce,s=AAAA,i=1"), ScramErrc::ServerNonceForeign);
  for (const char* i : {"0", "1000001", "99999999999"})
    EXPECT_EQ(final("r=clientnonceX,s=AAAA,i=" + std::string(i)), ScramErrc::ServerIterationsOutOfRange) << i;
  for (const char* bad : {"", "r=clientnonceX", "r=clientnonceX,s=,i=1", "r=clientnonceX,s=A,i=1",
                          "e=other-error", "r=clientnonceX,s=AAAA,i=", "r=clientnonceX,s=AAAA,i=-1",
                          "m=x,r=clientnonceX,s=AAAA,i=1", "r=clientnonceX,s=AAAA,i=1,"})
    EXPECT_EQ(final(bad), ScramErrc::ServerMessageMalformed) << bad;
  const std::string big(2000, 'A');
  EXPECT_EQ(final("r=clientnonceX,s=" + big + ",i=1"), ScramErrc::ServerMessageMalformed);
}

TEST(ScramClient, BelievesOnlyAServerThatKnowsTheVerifier) {
  ScramClient client = client_with("pencil");
  ASSERT_TRUE(client.final("r=clientnonceX,s=AAAA,i=1"));
  EXPECT_EQ(client.verify("e=invalid-proof").error().code, ScramErrc::ServerError);
  EXPECT_EQ(client.verify("v=" + base64_encode(Bytes(32))).error().code, ScramErrc::ServerSignatureWrong);
  EXPECT_EQ(client.verify("v=AAAA").error().code, ScramErrc::ServerMessageMalformed);
  EXPECT_EQ(client.verify("").error().code, ScramErrc::ServerMessageMalformed);
}

}  // namespace
}  // namespace sluice::protocol
