#include "protocol/client_login.h"

#include <gtest/gtest.h>

#include "protocol/backend_messages.h"
#include "protocol/crypto.h"
#include "protocol/frame_decoder.h"
#include "protocol/frontend_messages.h"
#include "protocol/md5_login.h"
#include "protocol/scram_client.h"
#include "tests/protocol/login_support.h"

namespace sluice::protocol {
namespace {

using namespace std::literals;
using testing::error_of;
using testing::kHash;
using testing::kMockSecret;
using testing::message;
using testing::types_of;
using ClientWant = ClientLogin::Want;

const Parameter kAnn{"user", "ann"};

ClientLogin::Settings settings() {
  ClientLogin::Settings s;
  s.mock_secret = kMockSecret;
  return s;
}

Bytes startup_bytes(std::uint32_t version = kProtocol30) {
  Bytes bytes;
  append_startup_message(bytes, std::vector<Parameter>{kAnn, {"database", "shop"}}, version);
  return bytes;
}

// A login that has been told user and method.
ClientLogin challenged(AuthMethod method, const Secret& secret, bool tls = false, Bytes hash = {}) {
  ClientLogin login(settings());
  if (tls) login.direct_tls_started({"", std::move(hash)});
  feed(login, startup_bytes());
  EXPECT_EQ(login.step(), ClientWant::ChooseMethod);
  login.authenticate(method, secret, {});
  return login;
}

struct End {
  ClientWant want;
  Bytes output;
};
End answer(ClientLogin& login, ByteView bytes) {
  (void)login.take_output();
  feed(login, bytes);
  const ClientWant want = login.step();
  return {want, login.take_output()};
}

TEST(ClientLogin, AnswersGssAndSslInEitherOrderAndThenLogsIn) {
  for (const bool gss_first : {true, false}) {
    ClientLogin login(settings());
    for (const bool gss : {gss_first, !gss_first}) {
      Bytes request;
      gss ? append_gss_enc_request(request) : append_ssl_request(request);
      feed(login, request);
      EXPECT_EQ(login.step(), ClientWant::Read);
      EXPECT_EQ(as_text(login.take_output()), "N");
    }
    feed(login, startup_bytes());
    EXPECT_EQ(login.step(), ClientWant::ChooseMethod);
    EXPECT_EQ(login.startup().user, "ann");
  }
}

TEST(ClientLogin, StartsTlsOnceAndTakesASecondRequestForAVersion) {
  auto s = settings();
  s.tls_available = true;
  ClientLogin login(s);
  Bytes request;
  append_ssl_request(request);
  feed(login, request);
  ASSERT_EQ(login.step(), ClientWant::StartTls);
  EXPECT_EQ(as_text(login.take_output()), "S");
  login.tls_started({"", kHash});
  feed(login, request);
  EXPECT_EQ(login.step(), ClientWant::Close);
  EXPECT_EQ(error_of(login.take_output()).sqlstate, "0A000");
}

// B09
TEST(ClientLogin, NeverBelievesBytesGluedBehindSslRequest) {
  for (const bool tls : {true, false}) {
    auto s = settings();
    s.tls_available = tls;
    ClientLogin login(s);
    Bytes bytes;
    append_ssl_request(bytes);
    append(bytes, startup_bytes());
    feed(login, bytes);
    EXPECT_EQ(login.step(), ClientWant::Close);
    const Bytes output = login.take_output();
    ASSERT_NE(login.refusal(), nullptr);
    EXPECT_EQ(login.refusal()->message, "received unencrypted data after SSL request");
    if (tls) {
      EXPECT_TRUE(output.empty());
    } else {
      EXPECT_EQ(as_text(output)[0], 'N');
      EXPECT_EQ(error_of(ByteView(output).subspan(1)).sqlstate, "08P01");
    }
  }
}

TEST(ClientLogin, RefusesPlainTextWhereTlsIsRequiredButNotACancelRequest) {
  auto s = settings();
  s.tls_required = true;
  ClientLogin login(s);
  feed(login, startup_bytes());
  EXPECT_EQ(login.step(), ClientWant::Close);
  EXPECT_EQ(error_of(login.take_output()).sqlstate, "28000");
  ClientLogin cancelling(s);
  Bytes request;
  append_cancel_request(request, 77, as_bytes("key!"));
  feed(cancelling, request);
  ASSERT_EQ(cancelling.step(), ClientWant::Cancel);
  EXPECT_EQ(cancelling.cancel_request().process_id, 77);
  EXPECT_TRUE(cancelling.take_output().empty());
}

TEST(ClientLogin, ClosesSilentlyAsSoonAsALengthIsImpossible) {
  for (const std::string_view length : {"\0\0\0\0"sv, "\0\0\x27\x15"sv, "\x7F\xFF\xFF\xFF"sv, "GET "sv}) {
    ClientLogin login(settings());
    feed(login, as_bytes(length));
    EXPECT_EQ(login.step(), ClientWant::Close);
    EXPECT_TRUE(login.take_output().empty());
    EXPECT_NE(login.refusal(), nullptr);
  }
}

// B05
TEST(ClientLogin, AcceptsTheLargestStartupMessageInSingleBytes) {
  Bytes bytes;
  append_startup_message(bytes, std::vector<Parameter>{kAnn, {"a", ""}});
  Bytes full;
  append_startup_message(full, std::vector<Parameter>{kAnn, {"a", std::string(10004 - bytes.size(), 'x')}});
  ASSERT_EQ(full.size(), 10004u);
  ClientLogin login(settings());
  for (std::size_t i = 0; i < full.size(); ++i) {
    EXPECT_EQ(login.step(), ClientWant::Read);
    feed(login, ByteView(full).subspan(i, 1));
  }
  EXPECT_EQ(login.step(), ClientWant::ChooseMethod);
}

TEST(ClientLogin, SendsOneNegotiationInFrontOfTheChallenge) {
  ClientLogin login(settings());
  feed(login, startup_bytes(0x0003270F));
  ASSERT_EQ(login.step(), ClientWant::ChooseMethod);
  ASSERT_EQ(login.step(), ClientWant::ChooseMethod);
  login.authenticate(AuthMethod::ScramSha256, UnknownUser{}, {});
  EXPECT_EQ(login.step(), ClientWant::Read);
  EXPECT_EQ(types_of(login.take_output()), "vR");
}

TEST(ClientLogin, JudgesMethodsThatNeedNoAnswer) {
  ClientLogin trusted = challenged(AuthMethod::Trust, UnknownUser{});
  EXPECT_EQ(trusted.step(), ClientWant::Authenticated);
  EXPECT_EQ(types_of(trusted.take_output()), "R");
  ClientLogin rejected = challenged(AuthMethod::Reject, PlainPassword{"x"});
  EXPECT_EQ(rejected.step(), ClientWant::Close);
  EXPECT_EQ(error_of(rejected.take_output()).sqlstate, "28000");
  for (const auto& [name, message] :
       {std::pair{"", "connection requires a valid client certificate"},
        std::pair{"bob", "certificate authentication failed for user \"ann\""}, std::pair{"ann", ""}}) {
    ClientLogin login(settings());
    login.direct_tls_started({name, {}});
    feed(login, startup_bytes());
    ASSERT_EQ(login.step(), ClientWant::ChooseMethod);
    login.authenticate(AuthMethod::Cert, UnknownUser{}, {});
    EXPECT_EQ(login.step(), *message == 0 ? ClientWant::Authenticated : ClientWant::Close);
    EXPECT_EQ(error_of(login.take_output()).message, message);
  }
}

TEST(ClientLogin, LeavesPassthroughToTheShell) {
  ClientLogin login = challenged(AuthMethod::Passthrough, UnknownUser{});
  EXPECT_EQ(login.step(), ClientWant::Relay);
  login.passthrough_done(ClientLogin::Passthrough::Succeeded);
  EXPECT_EQ(login.step(), ClientWant::Authenticated);
  EXPECT_TRUE(login.take_output().empty());
  ClientLogin failed = challenged(AuthMethod::Passthrough, UnknownUser{});
  failed.passthrough_done(ClientLogin::Passthrough::Failed);
  EXPECT_EQ(failed.step(), ClientWant::Close);
  EXPECT_TRUE(failed.take_output().empty());
}

// B20
TEST(ClientLogin, ShowsUnknownUsersNothingThatAWrongPasswordDoesNotShow) {
  const ScramVerifier verifier = scram_verifier_for("ann", "pencil", kMockSecret);
  std::vector<std::string> seen;
  for (const Secret& secret : {Secret(verifier), Secret(UnknownUser{}), Secret(PlainPassword{"pencil"}),
                               Secret(Md5Hash{*md5_hash("ann", "pencil")})}) {
    ClientLogin login = challenged(AuthMethod::ScramSha256, secret);
    ScramClient client(PlainPassword{"wrong"}, ScramClient::Binding::NotSupported, {}, "nonce");
    std::string transcript(as_text(login.take_output()));
    Bytes bytes;
    append_sasl_initial_response(bytes, kScramSha256, as_bytes(client.first()));
    const End first = answer(login, bytes);
    transcript += as_text(first.output);
    const std::string server_first = testing::messages_of(first.output).at(0).body.substr(4);
    bytes.clear();
    append_sasl_response(bytes, as_bytes(*client.final(server_first)));
    const End last = answer(login, bytes);
    EXPECT_EQ(last.want, ClientWant::Close);
    EXPECT_EQ(error_of(last.output),
              (ErrorFields{"FATAL", "28P01", "password authentication failed for user \"ann\"", {}, {}}));
    seen.push_back(transcript + std::string(as_text(last.output)));
  }
  for (const std::string& transcript : seen)
    EXPECT_EQ(transcript, seen[0]);
}

TEST(ClientLogin, TreatsUnknownUsersUnderMd5LikeAWrongPassword) {
  Bytes response;
  append_password_message(response, *md5_response(*md5_hash("ann", as_text(kMockSecret)), {}));
  for (const Secret& secret : {Secret(UnknownUser{}), Secret(PlainPassword{"pencil"}),
                               Secret(Md5Hash{*md5_hash("ann", "pencil")})}) {
    ClientLogin login = challenged(AuthMethod::Md5, secret);
    const End end = answer(login, response);
    EXPECT_EQ(end.want, ClientWant::Close);
    EXPECT_EQ(error_of(end.output).sqlstate, "28P01");
  }
  auto s = settings();
  s.unknown_under_md5 = ClientLogin::Settings::UnknownUnderMd5::Scram;
  ClientLogin login(s);
  feed(login, startup_bytes());
  ASSERT_EQ(login.step(), ClientWant::ChooseMethod);
  login.authenticate(AuthMethod::Md5, UnknownUser{}, {});
  EXPECT_EQ(testing::messages_of(login.take_output()).at(0).body.substr(0, 4), "\0\0\0\x0A"s);
}

TEST(ClientLogin, RefusesWhatIsNoAnswerToItsChallenge) {
  struct Case {
    AuthMethod method;
    Bytes bytes;
    std::string sqlstate;
    std::string text;
  };
  const std::string huge_sasl(1025, 'x');
  const std::vector<Case> cases = {
      {AuthMethod::Md5, message('Q', "select 1"), "08P01", "expected password response, got message type 81"},
      {AuthMethod::ScramSha256, message('X', ""), "08P01", "expected SASL response, got message type 88"},
      {AuthMethod::Md5, message('p', "no zero"), "08P01", "invalid password packet size"},
      {AuthMethod::Md5, message('p', "two\0zeros\0"s), "08P01", "invalid password packet size"},
      {AuthMethod::Md5, message('p', "\0"s), "28P01", "empty password returned by client"},
      {AuthMethod::Md5, testing::bytes_of("p\0\0\0\3"s), "08P01", "invalid message length"},
      {AuthMethod::Md5, testing::bytes_of("p\0\1\0\4"s), "08P01", "invalid message length"},
      {AuthMethod::ScramSha256, message('p', huge_sasl), "28P01",
       "password authentication failed for user \"ann\""},
      {AuthMethod::ScramSha256, message('p', "SCRAM-SHA-256\0\0\0\0\3n,,n="s), "08P01",
       "invalid message format"},
      {AuthMethod::ScramSha256, message('p', "PLAIN\0\0\0\0\0"s), "08P01",
       "client selected an invalid SASL authentication mechanism"},
      {AuthMethod::ScramSha256, message('p', "SCRAM-SHA-256-PLUS\0\0\0\0\0"s), "08P01",
       "client selected an invalid SASL authentication mechanism"},
      {AuthMethod::ScramSha256, message('p', "SCRAM-SHA-256\0\0\0\0\7short"s), "08P01",
       "insufficient data left in message"},
      {AuthMethod::ScramSha256, message('p', "SCRAM-SHA-256\0\xFF\xFF\xFF\xFE"s), "08P01",
       "insufficient data left in message"},
      {AuthMethod::ScramSha256, message('p', "SCRAM-SHA-256"), "08P01", "invalid string in message"},
      {AuthMethod::ScramSha256, message('p', "SCRAM-SHA-256\0\0\0\0\0"s), "08P01", "malformed SCRAM message"},
  };
  for (const Case& c : cases) {
    ClientLogin login = challenged(c.method, PlainPassword{"pencil"});
    const End end = answer(login, c.bytes);
    EXPECT_EQ(end.want, ClientWant::Close) << c.text;
    EXPECT_EQ(error_of(end.output).sqlstate, c.sqlstate) << c.text;
    EXPECT_EQ(error_of(end.output).message, c.text);
  }
}

// B16: a client that can bind and believes that we cannot, where we offered it.
TEST(ClientLogin, RefusesAChannelBindingDowngrade) {
  ClientLogin login = challenged(AuthMethod::ScramSha256, PlainPassword{"pencil"}, true, kHash);
  Bytes bytes;
  append_sasl_initial_response(bytes, kScramSha256, as_bytes("y,,n=,r=abc"));
  EXPECT_EQ(error_of(answer(login, bytes).output).sqlstate, "28000");
}

TEST(ClientLogin, AsksForTheFirstScramMessageWhereTheInitialResponseHadNone) {
  ClientLogin login = challenged(AuthMethod::ScramSha256, PlainPassword{"pencil"});
  const End end = answer(login, message('p', "SCRAM-SHA-256\0\xFF\xFF\xFF\xFF"s));
  EXPECT_EQ(end.want, ClientWant::Read);
  EXPECT_EQ(testing::messages_of(end.output).at(0).body, "\0\0\0\x0B"s);
  EXPECT_EQ(testing::messages_of(answer(login, message('p', "n,,n=,r=abc")).output).at(0).body.substr(4, 5),
            "r=abc");
}

TEST(ClientLogin, LeavesPipelinedBytesToTheSession) {
  ClientLogin login = challenged(AuthMethod::Md5, PlainPassword{"pencil"});
  Bytes bytes;
  append_password_message(bytes, *md5_response(*md5_hash("ann", "pencil"), {}));
  append_query(bytes, "select 1");
  const End end = answer(login, bytes);
  EXPECT_EQ(end.want, ClientWant::Authenticated);
  EXPECT_EQ(types_of(login.unread()), "Q");
  login.refuse({"FATAL", "3D000", "database \"shop\" does not exist", {}, {}});
  EXPECT_EQ(login.step(), ClientWant::Close);
  EXPECT_EQ(error_of(login.take_output()).sqlstate, "3D000");
}

}  // namespace
}  // namespace sluice::protocol
