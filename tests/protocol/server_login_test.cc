#include "protocol/server_login.h"

#include <gtest/gtest.h>

#include "protocol/backend_messages.h"
#include "protocol/frame_decoder.h"
#include "tests/protocol/login_support.h"

namespace sluice::protocol {
namespace {

using namespace std::literals;
using testing::bytes_of;
using testing::message;
using testing::types_of;
using ServerWant = ServerLogin::Want;
using Attempt = ServerLogin::Attempt;

ServerLogin::Settings server_settings(SslMode mode = SslMode::Disable, Attempt attempt = Attempt::First) {
  ServerLogin::Settings s;
  s.sslmode = mode;
  s.attempt = attempt;
  s.parameters = {{"user", "ann"}, {"database", "shop"}};
  s.credentials.password = "pencil";
  return s;
}

Bytes error(std::string sqlstate) {
  Bytes bytes;
  append_error_response(bytes, {"FATAL", std::move(sqlstate), "no", {}, {}});
  return bytes;
}

Bytes authentication(std::uint32_t code, std::string_view rest = {}) {
  Bytes body;
  ByteWriter(body).u32(code);
  append(body, as_bytes(rest));
  return message('R', as_text(body));
}

// A plain login that has sent its StartupMessage and got these bytes.
ServerLogin answered(ByteView bytes, ServerLogin::Settings s = server_settings()) {
  ServerLogin login(std::move(s));
  EXPECT_EQ(login.step(), ServerWant::Read);
  (void)login.take_output();
  feed(login, bytes);
  return login;
}

Bytes concat(std::initializer_list<Bytes> parts) {
  Bytes all;
  for (const Bytes& part : parts)
    append(all, part);
  return all;
}

const Bytes kOk = authentication(0);
const Bytes kReady = message('Z', "I");

TEST(ServerLogin, CollectsParametersAndKeyAndLeavesWhatFollows) {
  const Bytes key = message('K', "\xFF\xFF\xFF\xFEsecret!!");
  ServerLogin login =
      answered(concat({message('N', "\0"s), kOk, message('S', "TimeZone\0UTC\0"s), message('S', "a\0b\0"s),
                       key, message('S', "TimeZone\0CET\0"s), kReady, message('N', "\0"s)}));
  ASSERT_EQ(login.step(), ServerWant::Ready);
  EXPECT_EQ(login.parameters(), (std::vector<Parameter>{{"TimeZone", "CET"}, {"a", "b"}}));
  EXPECT_EQ(login.process_id(), -2);
  EXPECT_EQ(as_text(login.cancel_secret()), "secret!!");
  EXPECT_EQ(types_of(login.unread()), "N");
}

TEST(ServerLogin, ChoosesTheTransportAsLibpqDoes) {
  struct Case {
    SslMode mode;
    Attempt attempt;
    bool asks_for_tls;
    ServerWant after_refusal;  // server answers N (asked for TLS) or an error (plain)
  };
  for (const Case& c : {Case{SslMode::Disable, Attempt::First, false, ServerWant::Failed},
                        Case{SslMode::Allow, Attempt::First, false, ServerWant::ReconnectTls},
                        Case{SslMode::Allow, Attempt::TlsRetry, true, ServerWant::Failed},
                        Case{SslMode::Prefer, Attempt::First, true, ServerWant::Read},
                        Case{SslMode::Prefer, Attempt::PlainRetry, false, ServerWant::Failed},
                        Case{SslMode::Require, Attempt::First, true, ServerWant::Failed},
                        Case{SslMode::VerifyCa, Attempt::PlainRetry, true, ServerWant::Failed},
                        Case{SslMode::VerifyFull, Attempt::First, true, ServerWant::Failed}}) {
    ServerLogin login(server_settings(c.mode, c.attempt));
    ASSERT_EQ(login.step(), ServerWant::Read);
    EXPECT_EQ(login.take_output().size() == 8, c.asks_for_tls);
    feed(login, c.asks_for_tls ? bytes_of("N") : error("28000"));
    EXPECT_EQ(login.step(), c.after_refusal) << static_cast<int>(c.mode);
  }
  auto unix_socket = server_settings(SslMode::VerifyFull);
  unix_socket.tls_possible = false;
  ServerLogin login(unix_socket);
  ASSERT_EQ(login.step(), ServerWant::Read);
  EXPECT_GT(login.take_output().size(), 8u);
}

// As libpq: a password that was refused without TLS may be right with it, by another line of pg_hba.conf.
TEST(ServerLogin, AllowTriesTlsAfterAnyRefusalBeforeAuthenticationIsComplete) {
  for (const bool asked : {false, true}) {
    for (const char* sqlstate : {"28000", "28P01", "53300"}) {
      ServerLogin login = answered(concat({asked ? authentication(5, "salt") : Bytes{}, error(sqlstate)}),
                                   server_settings(SslMode::Allow));
      EXPECT_EQ(login.step(), ServerWant::ReconnectTls) << sqlstate;
    }
  }
  ServerLogin authenticated = answered(concat({kOk, error("3D000")}), server_settings(SslMode::Allow));
  EXPECT_EQ(authenticated.step(), ServerWant::Failed);
  // What cannot be answered without TLS may not be asked with it.
  for (const Bytes& challenge : {authentication(3), authentication(7)}) {
    ServerLogin login = answered(challenge, server_settings(SslMode::Allow));
    EXPECT_EQ(login.step(), ServerWant::ReconnectTls);
  }
}

TEST(ServerLogin, TellsWhetherOtherCredentialsMightDo) {
  using Source = ServerLogin::FailureSource;
  auto none = server_settings();
  none.credentials.password.reset();
  for (const Bytes& challenge : {authentication(3), authentication(5, "salt"), authentication(7),
                                 authentication(10, "SCRAM-SHA-256\0\0"sv)}) {
    ServerLogin login = answered(challenge, none);
    ASSERT_EQ(login.step(), ServerWant::Failed);
    EXPECT_EQ(login.failure_source(), Source::Credentials) << login.failure().message;
  }
  ServerLogin refused = answered(error("28P01"));
  ASSERT_EQ(refused.step(), ServerWant::Failed);
  EXPECT_EQ(refused.failure_source(), Source::Server);
  ServerLogin garbage = answered(message('Q', ""));
  ASSERT_EQ(garbage.step(), ServerWant::Failed);
  EXPECT_EQ(garbage.failure_source(), Source::Sluice);
}

TEST(ServerLogin, FallsBackFromTlsOnlyBeforeTheServerAskedForAnything) {
  for (const bool asked : {false, true}) {
    ServerLogin login(server_settings(SslMode::Prefer));
    ASSERT_EQ(login.step(), ServerWant::Read);
    feed(login, as_bytes("S"));
    ASSERT_EQ(login.step(), ServerWant::StartTls);
    login.tls_started({});
    EXPECT_EQ(login.step(), ServerWant::Read);
    feed(login, concat({asked ? authentication(3) : Bytes{}, error("28P01")}));
    EXPECT_EQ(login.step(), asked ? ServerWant::Failed : ServerWant::ReconnectPlain);
  }
  for (const SslMode mode : {SslMode::Prefer, SslMode::Require}) {
    ServerLogin login(server_settings(mode));
    ASSERT_EQ(login.step(), ServerWant::Read);
    feed(login, as_bytes("S"));
    ASSERT_EQ(login.step(), ServerWant::StartTls);
    login.tls_failed("certificate has expired");
    EXPECT_EQ(login.step(), mode == SslMode::Prefer ? ServerWant::ReconnectPlain : ServerWant::Failed);
  }
}

// B09, the other direction
TEST(ServerLogin, NeverBelievesBytesGluedBehindTheAnswerToSslRequest) {
  for (const std::string_view reply : {"S12345678901234567890"sv, "Nx"sv, "E..."sv, "x"sv}) {
    ServerLogin login(server_settings(SslMode::Prefer));
    ASSERT_EQ(login.step(), ServerWant::Read);
    feed(login, as_bytes(reply));
    EXPECT_EQ(login.step(), ServerWant::Failed) << reply;
    EXPECT_FALSE(login.from_server());
  }
}

TEST(ServerLogin, NamesTheMethodThatItCannotDo) {
  for (const auto& [code, name] :
       {std::pair{2u, "Kerberos V5"}, std::pair{4u, "crypt()"}, std::pair{6u, "SCM credentials"},
        std::pair{7u, "GSSAPI"}, std::pair{9u, "SSPI"}, std::pair{99u, "an unknown method"}}) {
    ServerLogin login = answered(authentication(code));
    ASSERT_EQ(login.step(), ServerWant::Failed);
    EXPECT_EQ(login.failure().message, "server asked for "s + name + " (authentication method " +
                                           std::to_string(code) + "), which Sluice cannot do");
    EXPECT_FALSE(login.from_server());
  }
  ServerLogin login = answered(authentication(10, "OAUTHBEARER\0X\x01\0\0"sv));
  ASSERT_EQ(login.step(), ServerWant::Failed);
  EXPECT_NE(login.failure().message.find("OAUTHBEARER, X?"), std::string::npos);
}

TEST(ServerLogin, ShowsAPasswordInClearOverTlsOrAUnixSocketOnly) {
  ServerLogin plain = answered(authentication(3));
  EXPECT_EQ(plain.step(), ServerWant::Failed);
  EXPECT_TRUE(plain.take_output().empty());
  auto allowed = server_settings();
  allowed.allow_cleartext_without_tls = true;
  auto unix_socket = server_settings();
  unix_socket.tls_possible = false;
  for (const auto& s : {allowed, unix_socket}) {
    ServerLogin login = answered(authentication(3), s);
    EXPECT_EQ(login.step(), ServerWant::Read);
    EXPECT_EQ(as_text(login.take_output()), "p\0\0\0\x0Bpencil\0"sv);
  }
}

TEST(ServerLogin, SaysWhichCredentialIsMissing) {
  for (const std::uint32_t code : {3u, 5u, 10u}) {
    auto s = server_settings();
    s.credentials = {};
    s.tls_possible = false;
    const std::string_view rest = code == 5 ? "salt"sv : code == 10 ? "SCRAM-SHA-256\0\0"sv : ""sv;
    ServerLogin login = answered(authentication(code, rest), s);
    ASSERT_EQ(login.step(), ServerWant::Failed);
    EXPECT_EQ(login.failure().sqlstate, "28000");
    EXPECT_NE(login.failure().message.find("known"), std::string::npos);
  }
}

TEST(ServerLogin, CarriesTheServersOwnErrorAndSaysWhetherItCameAfterAuthentication) {
  ServerLogin before = answered(error("28P01"));
  ASSERT_EQ(before.step(), ServerWant::Failed);
  EXPECT_TRUE(before.from_server());
  EXPECT_FALSE(before.authenticated());
  ServerLogin after = answered(concat({kOk, error("3D000")}));
  ASSERT_EQ(after.step(), ServerWant::Failed);
  EXPECT_EQ(after.failure().sqlstate, "3D000");
  EXPECT_TRUE(after.authenticated());
}

TEST(ServerLogin, RefusesAHostileServer) {
  const Bytes scram = authentication(10, "SCRAM-SHA-256\0\0"sv);
  Bytes many_parameters = kOk;
  for (int i = 0; i < 257; ++i)
    append(many_parameters, message('S', "p" + std::to_string(i) + "\0v\0"s));
  Bytes many_notices;
  for (int i = 0; i < 257; ++i)
    append(many_notices, message('N', "\0"s));
  const std::vector<std::pair<std::string, Bytes>> cases = {
      {"OK in mid-SCRAM", concat({scram, kOk})},
      {"SASLFinal before SASLContinue", concat({scram, authentication(12, "v=AAAA")})},
      {"SASLContinue before SASL", authentication(11, "r=x")},
      {"foreign nonce", concat({scram, authentication(11, "r=x,s=AAAA,i=4096")})},
      {"second challenge", concat({authentication(5, "salt"), authentication(5, "tlas")})},
      {"short salt", authentication(5, "sal")},
      {"no code", message('R', "")},
      {"trailing bytes", authentication(0, "x")},
      {"PLUS without TLS", authentication(10, "SCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0"sv)},
      {"unterminated list", authentication(10, "SCRAM-SHA-256\0"sv)},
      {"short length", bytes_of("R\0\0\0\3"sv)},
      {"huge length", bytes_of("R\x7F\xFF\xFF\xFF"sv)},
      {"parameter before OK", message('S', "a\0b\0"s)},
      {"ready before OK", kReady},
      {"challenge after OK", concat({kOk, authentication(3)})},
      {"data row", concat({kOk, message('D', "")})},
      {"key of three bytes", concat({kOk, message('K', "\0\0\0\1abc"s)})},
      {"key of 257 bytes", concat({kOk, message('K', std::string(4 + 257, 'k'))})},
      {"malformed parameter", concat({kOk, message('S', "a\0b"s)})},
      {"status T", concat({kOk, message('Z', "T")})},
      {"empty ready", concat({kOk, message('Z', "")})},
      {"negotiates down", message('v', "\0\2\0\0\0\0\0\0"s)},
      {"negotiates options", message('v', "\0\3\0\0\0\0\0\1_pq_.x\0"s)},
      {"too many parameters", many_parameters},
      {"too many notices", many_notices},
  };
  for (const auto& [name, bytes] : cases) {
    ServerLogin login = answered(bytes);
    EXPECT_EQ(login.step(), ServerWant::Failed) << name;
    EXPECT_FALSE(login.from_server()) << name;
    EXPECT_EQ(login.step(), ServerWant::Failed) << name;
  }
}

TEST(ServerLogin, WorksWithoutACancelKey) {
  for (const Bytes& key : {Bytes{}, message('K', "\0\0\0\1"s)}) {
    ServerLogin login = answered(concat({message('v', "\0\3\0\0\0\0\0\0"s), kOk, key, kReady}));
    EXPECT_EQ(login.step(), ServerWant::Ready);
    EXPECT_TRUE(login.cancel_secret().empty());
  }
}

}  // namespace
}  // namespace sluice::protocol
