#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "protocol/error_response.h"
#include "protocol/login_buffer.h"
#include "protocol/scram_server.h"
#include "protocol/secret.h"
#include "protocol/startup_packet.h"

namespace sluice::protocol {

enum class AuthMethod { Reject, Trust, Cert, Md5, ScramSha256, Passthrough };

// What the shell knows once a client's TLS handshake is done.
struct TlsFacts {
  std::string certificate_common_name;  // of the verified client certificate, else ""
  Bytes channel_binding;  // tls-server-end-point hash of OUR certificate; empty: -PLUS is not offered
};

// Fresh random bytes for one authentication.
struct LoginNonces {
  ScramNonce scram{};
  std::array<std::byte, 4> md5_salt{};
};

// Our server side of a client's start-up, from its first byte to AuthenticationOk. Pure: fed with bytes,
// asked for bytes and for what to do next.
//
//   shell:  switch (login.step()) { Read: write take_output(), read into prepare(), commit(), again; ... }
//
// Answers are PostgreSQL 15's, byte for byte where it has one. An unknown user, one without a fitting secret
// and a wrong password are the same on the wire: same messages, a salt that stays the same for that name,
// 28P01, same work. One difference remains to the caller: authenticate() with a PlainPassword under SCRAM
// derives its verifier (thousands of hashes); a shell that has plain passwords derives them once, when they
// are read (scram_verifier_for). A machine in Close or Authenticated stays there. Used by one thread.
class ClientLogin {
 public:
  struct Settings {
    bool tls_available = false;
    bool tls_required = false;  // a start-up in plain text is refused: FATAL 28000 (a CancelRequest is not)
    std::size_t startup_bytes_max = kStartupBytesMax;
    std::size_t password_bytes_max = 65535;  // body of a PasswordMessage; PostgreSQL's cap
    ByteView mock_secret;  // random, the same for the life of the process (or of the cluster); must outlive
                           // the machine
    std::uint32_t mock_iterations = kScramIterationsDefault;  // what the real verifiers mostly have
    // Under Md5 the challenge depends on the stored secret (md5 hash and plain password: MD5; verifier:
    // SCRAM). What unknown users are shown there: should be what most of the known ones are.
    enum class UnknownUnderMd5 { Md5, Scram } unknown_under_md5 = UnknownUnderMd5::Md5;
  };

  enum class Want {
    Read,          // write the output, then read: prepare(), commit()
    StartTls,      // write the output ('S'), handshake as TLS server, then tls_started()
    ChooseMethod,  // startup() is known: call authenticate(). Output may hold NegotiateProtocolVersion: write
                   // it first or leave it, it stays in order
    Relay,         // Passthrough: relay the server's own authentication, then passthrough_done()
    Authenticated,  // output ends with AuthenticationOk (Passthrough: nothing, the server's own was relayed);
                    // ParameterStatus, BackendKeyData and ReadyForQuery are the shell's
    Cancel,         // cancel_request() is known; nothing is ever answered
    Close           // write the output (an ErrorResponse or nothing), close; refusal() tells why
  };

  explicit ClientLogin(const Settings& settings);

  Want step();
  // Lends at least `size` bytes of room. Not between StartTls and tls_started(): those bytes are TLS.
  std::span<std::byte> prepare(std::size_t size) { return input_.prepare(size); }
  void commit(std::size_t count) { input_.commit(count); }
  Bytes take_output();
  // What has arrived and is not part of the login: to be handled as session bytes once authenticated. Dies at
  // prepare().
  ByteView unread() const noexcept { return input_.view(); }

  void tls_started(TlsFacts facts);
  // The connection began with a TLS handshake (ALPN "postgresql"). Before the first byte is fed.
  void direct_tls_started(TlsFacts facts);
  bool over_tls() const noexcept { return tls_.has_value(); }

  // Once, at ChooseMethod. The secret is copied, and forgotten with the machine.
  void authenticate(AuthMethod method, const Secret& secret, const LoginNonces& nonces);
  // Refuses the client at ChooseMethod, in Relay, or once Authenticated: appends `fields` as an
  // ErrorResponse.
  void refuse(ErrorFields fields);
  enum class Passthrough { Succeeded, Failed /* whatever the client was owed has been relayed */ };
  void passthrough_done(Passthrough outcome);

  // From ChooseMethod on.
  const StartupMessage& startup() const;
  StartupMessage& startup();
  const CancelRequest& cancel_request() const;
  // After a SCRAM login only.
  const std::optional<ClientKeys>& client_keys() const noexcept { return client_keys_; }
  // Why it ended in Close; nullptr before. Its message is for log and metrics even where the client got
  // nothing.
  const ErrorFields* refusal() const noexcept { return refusal_ ? &*refusal_ : nullptr; }

 private:
  enum class State {
    Startup,
    StartTls,
    ChooseMethod,
    Md5Response,
    SaslInitialResponse,
    SaslFirstMessage,  // the initial response was absent: SCRAM's first message comes in a message of its own
    SaslFinalMessage,
    Relay,
    Authenticated,
    Cancel,
    Close
  };

  // Each takes one event off the input; true when it took one, so that there may be more to do.
  bool step_startup();
  bool step_authentication();
  void on_packet(StartupPacket packet);
  void negotiate(bool accept, State accepted, std::string_view glued_message);
  void on_md5_response(ByteView body);
  void on_sasl_initial_response(ByteView body);
  void on_sasl_message(std::string_view client_first);
  void on_sasl_final(std::string_view client_final);

  void begin_md5(const Secret& secret, const LoginNonces& nonces);
  void begin_scram(const Secret& secret, const LoginNonces& nonces);
  void begin_cert();
  void succeed();
  void fail(std::string sqlstate, std::string message, std::string detail = {}, std::string hint = {});
  void fail_password();
  void fail_scram(std::error_code code);
  void fail_startup(const StartupRefusal& refusal);

  Settings settings_;
  State state_ = State::Startup;
  NegotiationsOpen negotiations_open_;
  LoginBuffer input_;
  Bytes output_;
  std::optional<TlsFacts> tls_;
  StartupMessage startup_;
  CancelRequest cancel_;
  std::optional<ErrorFields> refusal_;
  std::string md5_expected_;  // what a right PasswordMessage says; of a made-up secret for unknown users
  bool doomed_ = false;       // no answer can be right: unknown user, or no secret that fits the method
  std::optional<ScramServer> scram_;
  std::optional<ClientKeys> client_keys_;
};

}  // namespace sluice::protocol
