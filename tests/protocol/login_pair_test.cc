// Both machines talking to each other, in every method and at every split of the bytes.
#include <algorithm>

#include <gtest/gtest.h>

#include "protocol/backend_messages.h"
#include "protocol/client_login.h"
#include "protocol/crypto.h"
#include "protocol/frame_decoder.h"
#include "protocol/md5_login.h"
#include "protocol/server_login.h"
#include "tests/protocol/login_support.h"

namespace sluice::protocol {
namespace {

using testing::error_of;
using testing::kHash;
using testing::kMockSecret;

struct Scene {
  std::string name;
  AuthMethod method = AuthMethod::ScramSha256;
  Secret secret;
  ServerCredentials credentials;
  bool tls = false;
  bool binding = false;
  bool succeeds = true;
};

// What comes out of one login: both ends' verdicts and everything sent.
struct Ending {
  bool authenticated = false;
  bool ready = false;
  std::string to_client;
  std::string to_server;
  std::optional<ClientKeys> keys;
  std::string failure;
};

// Feeds at most `piece` bytes at a time, the first time `first_piece`.
template <class Login>
void deliver(Login& login, ByteView bytes, std::size_t first_piece, std::size_t piece) {
  for (std::size_t at = 0, size = first_piece; at < bytes.size(); at += size, size = piece) {
    size = std::min(size, bytes.size() - at);
    feed(login, bytes.subspan(at, size));
    if (at + size < bytes.size()) (void)login.step();
  }
}

Ending play(const Scene& scene, std::size_t first_piece, std::size_t piece) {
  ClientLogin::Settings ours;
  ours.tls_available = scene.tls;
  ours.mock_secret = kMockSecret;
  ServerLogin::Settings theirs;
  theirs.sslmode = scene.tls ? SslMode::Require : SslMode::Disable;
  theirs.parameters = {{"user", "ann"}, {"application_name", "test"}};
  theirs.credentials = scene.credentials;
  theirs.scram_nonce.fill(std::byte{1});
  LoginNonces nonces;
  nonces.scram.fill(std::byte{2});
  ClientLogin client(ours);
  ServerLogin server(theirs);
  const Bytes binding = scene.binding ? kHash : Bytes{};

  Ending ending;
  bool greeted = false;
  for (int round = 0; round < 20; ++round) {
    const auto server_wants = server.step();
    const Bytes to_client_machine = server.take_output();
    ending.to_server += as_text(to_client_machine);
    deliver(client, to_client_machine, first_piece, piece);
    if (server_wants == ServerLogin::Want::StartTls) server.tls_started(binding);
    if (server_wants == ServerLogin::Want::Ready || server_wants == ServerLogin::Want::Failed) break;

    auto client_wants = client.step();
    if (client_wants == ClientLogin::Want::ChooseMethod) {
      client.authenticate(scene.method, scene.secret, nonces);
      client_wants = client.step();
    }
    Bytes to_server_machine = client.take_output();
    if (client_wants == ClientLogin::Want::StartTls) client.tls_started({"ann", binding});
    if (client_wants == ClientLogin::Want::Authenticated && !greeted) {
      greeted = true;
      append_parameter_status(to_server_machine, "TimeZone", "UTC");
      append_backend_key_data(to_server_machine, 7, as_bytes("key!"));
      append_ready_for_query(to_server_machine, 'I');
    }
    ending.to_client += as_text(to_server_machine);
    deliver(server, to_server_machine, first_piece, piece);
    ending.authenticated = client_wants == ClientLogin::Want::Authenticated;
  }
  ending.ready = server.step() == ServerLogin::Want::Ready;
  ending.keys = client.client_keys();
  if (server.step() == ServerLogin::Want::Failed) ending.failure = server.failure().sqlstate;
  return ending;
}

ClientKeys keys_of(std::string_view password, const ScramVerifier& verifier) {
  const ScramKey salted = pbkdf2_sha256(password, verifier.salt, verifier.iterations);
  return {hmac_sha256(salted, as_bytes("Client Key")), hmac_sha256(salted, as_bytes("Server Key"))};
}

ServerCredentials with_password(std::string password) {
  return {{}, {}, std::move(password)};
}

std::vector<Scene> scenes() {
  const ScramVerifier verifier = scram_verifier_for("ann", "pencil", kMockSecret, 2);
  const std::string hash = *md5_hash("ann", "pencil");
  return {
      {"trust", AuthMethod::Trust, UnknownUser{}, {}},
      {"trust over TLS", AuthMethod::Trust, UnknownUser{}, {}, true},
      {"cert", AuthMethod::Cert, UnknownUser{}, {}, true},
      {"cert without TLS", AuthMethod::Cert, UnknownUser{}, {}, false, false, false},
      {"reject", AuthMethod::Reject, verifier, with_password("pencil"), false, false, false},
      {"md5, plain both", AuthMethod::Md5, PlainPassword{"pencil"}, with_password("pencil")},
      {"md5, hash both", AuthMethod::Md5, Md5Hash{hash}, {{}, hash, {}}},
      {"md5, wrong", AuthMethod::Md5, Md5Hash{hash}, with_password("x"), false, false, false},
      {"md5, unknown", AuthMethod::Md5, UnknownUser{}, with_password("x"), false, false, false},
      {"md5 method, verifier", AuthMethod::Md5, verifier, with_password("pencil")},
      {"SCRAM, password", AuthMethod::ScramSha256, verifier, with_password("pencil")},
      {"SCRAM, keys", AuthMethod::ScramSha256, verifier, {keys_of("pencil", verifier), {}, {}}},
      {"SCRAM, keys before password",
       AuthMethod::ScramSha256,
       verifier,
       {keys_of("pencil", verifier), {}, "x"}},
      {"SCRAM, wrong", AuthMethod::ScramSha256, verifier, with_password("x"), false, false, false},
      {"SCRAM, unknown", AuthMethod::ScramSha256, UnknownUser{}, with_password("x"), false, false, false},
      {"SCRAM, TLS without binding", AuthMethod::ScramSha256, verifier, with_password("pencil"), true},
      {"SCRAM-PLUS", AuthMethod::ScramSha256, verifier, with_password("pencil"), true, true},
      {"SCRAM-PLUS, keys",
       AuthMethod::ScramSha256,
       verifier,
       {keys_of("pencil", verifier), {}, {}},
       true,
       true},
      {"SCRAM-PLUS, wrong", AuthMethod::ScramSha256, verifier, with_password("x"), true, true, false},
  };
}

TEST(LoginPair, EndsAsItMustInEveryMethod) {
  constexpr std::size_t kWhole = 1 << 20;
  for (const Scene& scene : scenes()) {
    const Ending ending = play(scene, kWhole, kWhole);
    EXPECT_EQ(ending.authenticated, scene.succeeds) << scene.name;
    EXPECT_EQ(ending.ready, scene.succeeds) << scene.name;
    EXPECT_EQ(ending.failure.empty(), scene.succeeds) << scene.name << ": " << ending.failure;
  }
}

TEST(LoginPair, EndsTheSameWhereverTheBytesAreCut) {
  constexpr std::size_t kWhole = 1 << 20;
  for (const Scene& scene : scenes()) {
    const Ending whole = play(scene, kWhole, kWhole);
    for (std::size_t cut = 1; cut <= 260; ++cut) {
      const Ending split = play(scene, cut, cut == 1 ? 1 : kWhole);
      ASSERT_EQ(split.to_client, whole.to_client) << scene.name << " cut=" << cut;
      ASSERT_EQ(split.to_server, whole.to_server) << scene.name << " cut=" << cut;
      ASSERT_EQ(split.ready, whole.ready) << scene.name << " cut=" << cut;
    }
  }
}

TEST(LoginPair, UsesPlusWheneverBothCan) {
  for (const Scene& scene : scenes()) {
    if (scene.method != AuthMethod::ScramSha256) continue;
    const bool used =
        play(scene, 1 << 20, 1 << 20).to_server.find("p=tls-server-end-point") != std::string::npos;
    EXPECT_EQ(used, scene.binding) << scene.name;
  }
}

// The point of it: who logged in to us by SCRAM can be logged in elsewhere without a password.
TEST(LoginPair, RecoversKeysThatLogInToAnotherServerWithTheSameVerifier) {
  const ScramVerifier verifier = scram_verifier_for("ann", "pencil", kMockSecret, 2);
  const Scene first{"first", AuthMethod::ScramSha256, verifier, with_password("pencil")};
  const Ending logged_in = play(first, 1 << 20, 1 << 20);
  ASSERT_TRUE(logged_in.keys);
  EXPECT_EQ(*logged_in.keys, keys_of("pencil", verifier));
  const Scene second{"second", AuthMethod::ScramSha256, verifier, {logged_in.keys, {}, {}}};
  EXPECT_TRUE(play(second, 1 << 20, 1 << 20).ready);
}

// B19
TEST(LoginPair, WorksWithVeryLongPasswordsAndPasswordsBeyondAscii) {
  std::vector<std::string> passwords = {"p\xC3\xA4ssw\xC3\xB6rd", "\xFF\xFEnot UTF-8", "I\xC2\xADX"};
  for (const std::size_t size : {1023u, 1024u, 4100u, 60000u})
    passwords.emplace_back(size, 'x');
  for (const std::string& password : passwords) {
    const ScramVerifier verifier = scram_verifier_for("ann", password, kMockSecret, 2);
    for (const Secret& secret : {Secret(verifier), Secret(PlainPassword{password})}) {
      for (const AuthMethod method : {AuthMethod::ScramSha256, AuthMethod::Md5}) {
        const Scene scene{"long", method, secret, with_password(password)};
        EXPECT_TRUE(play(scene, 1 << 20, 1 << 20).ready) << password.size();
      }
    }
  }
}

// A login cut off anywhere waits for more, and never takes itself for finished.
TEST(LoginPair, WaitsWhereTheBytesEndTooEarly) {
  constexpr std::size_t kWhole = 1 << 20;
  for (const Scene& scene : scenes()) {
    if (scene.tls || !scene.succeeds) continue;
    const Ending whole = play(scene, kWhole, kWhole);
    for (std::size_t size = 0; size < whole.to_client.size(); ++size) {
      ServerLogin::Settings theirs;
      theirs.sslmode = SslMode::Disable;
      theirs.parameters = {{"user", "ann"}, {"application_name", "test"}};
      theirs.credentials = scene.credentials;
      theirs.scram_nonce.fill(std::byte{1});
      ServerLogin server(theirs);
      feed(server, as_bytes(whole.to_client).first(size));
      ASSERT_EQ(server.step(), ServerLogin::Want::Read) << scene.name << " size=" << size;
    }
  }
}

}  // namespace
}  // namespace sluice::protocol
