#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "protocol/error_response.h"
#include "protocol/login_buffer.h"
#include "protocol/scram_client.h"
#include "protocol/secret.h"
#include "protocol/startup_packet.h"

namespace sluice::protocol {

// libpq's six, with its meaning. What VerifyCa and VerifyFull verify is the shell's TLS context's business.
enum class SslMode { Disable, Allow, Prefer, Require, VerifyCa, VerifyFull };

// What we can prove to a server; which one is used depends on what it asks for. SCRAM: client_keys, else
// password. MD5: md5_hash, else password. Cleartext: password alone.
struct ServerCredentials {
  std::optional<ClientKeys> client_keys;
  std::optional<std::string> md5_hash;  // "md5" and 32 hexadecimal digits
  std::optional<std::string> password;
};

// Our client side of a server connection's start-up (protocol 3.0), from connect to ReadyForQuery. Pure, as
// ClientLogin. The server may be hostile: every message, count and key has a limit; a server that does not
// prove that it knows the user's verifier is refused once SCRAM has begun; a password goes out in clear over
// TLS or a Unix socket only. A machine that wants Ready, Failed or a reconnect stays there. Used by one
// thread.
class ServerLogin {
 public:
  // Reconnects are new machines: pass what the old one wanted.
  enum class Attempt { First, PlainRetry, TlsRetry };
  struct Settings {
    SslMode sslmode = SslMode::Prefer;
    bool tls_possible = true;  // false for Unix sockets: plain whatever sslmode says, as libpq does
    Attempt attempt = Attempt::First;
    std::vector<Parameter> parameters;  // user, database, ...: sent in this order
    ServerCredentials credentials;
    ScramNonce scram_nonce{};  // fresh random bytes
    bool allow_cleartext_without_tls = false;
    std::size_t message_bytes_max = 65536;
    std::size_t parameters_max = 256;     // ParameterStatus kept
    std::size_t notices_max = 256;        // NoticeResponse during login
    std::size_t notice_bytes_max = 8192;  // of these, kept; what is beyond is read and dropped
    std::uint32_t scram_iterations_max = kScramIterationsMax;
  };

  enum class Want {
    Read,            // write the output, then read: prepare(), commit()
    StartTls,        // handshake as TLS client, then tls_started() or tls_failed()
    ReconnectPlain,  // sslmode allow, prefer: close, connect again, new machine with that Attempt
    ReconnectTls,
    Ready,  // parameters(), process_id(), cancel_secret() are known; the session is idle
    Failed  // close; failure() tells why. Output may hold a Terminate: write it or not
  };

  explicit ServerLogin(Settings settings);

  Want step();
  std::span<std::byte> prepare(std::size_t size) { return input_.prepare(size); }
  void commit(std::size_t count) { input_.commit(count); }
  Bytes take_output();
  // What the server sent behind ReadyForQuery: session bytes (notices, parameter changes). Dies at prepare().
  ByteView unread() const noexcept { return input_.view(); }

  // `channel_binding`: tls-server-end-point hash of the server's certificate; empty: no -PLUS.
  void tls_started(Bytes channel_binding);
  // The handshake failed: `reason` for failure(). With sslmode prefer the machine then wants ReconnectPlain.
  void tls_failed(std::string_view reason);
  bool over_tls() const noexcept { return tls_; }

  // Every distinct ParameterStatus, last value, in the order of first appearance.
  const std::vector<Parameter>& parameters() const noexcept { return parameters_; }
  // The NoticeResponses, whole messages, as far as notice_bytes_max reaches.
  const Bytes& notices() const noexcept { return notices_; }
  std::int32_t process_id() const noexcept { return process_id_; }
  // BackendKeyData's; empty: the server gave none and cannot be asked to cancel.
  ByteView cancel_secret() const noexcept { return cancel_secret_; }

  // Failed only: the server's own ErrorResponse, or one of ours about it. Never for an unauthenticated
  // client's eyes.
  const ErrorFields& failure() const;
  // Credentials: one of ours, because the server asked for a proof that these credentials cannot give; others
  // may.
  enum class FailureSource { Server, Sluice, Credentials };
  FailureSource failure_source() const noexcept { return failure_source_; }
  bool from_server() const noexcept { return failure_source_ == FailureSource::Server; }
  // Whether the failure came after the server had accepted the credentials (3D000, 53300 and the like may
  // then be told to an authenticated client).
  bool authenticated() const noexcept { return authenticated_; }

 private:
  enum class State {
    Start,
    TlsReply,
    StartTls,
    Authentication,  // StartupMessage sent, nothing answered yet or challenge answered
    SaslContinue,    // client-first-message sent
    SaslFinal,       // client-final-message sent
    SaslDone,        // server signature verified, AuthenticationOk to come
    Settings,        // authenticated, ReadyForQuery to come
    ReconnectPlain,
    ReconnectTls,
    Ready,
    Failed
  };

  void begin();
  bool step_tls_reply();
  bool step_message();
  void send_startup();
  void on_authentication(ByteView body);
  void on_cleartext();
  void on_md5(ByteView body);
  void on_sasl(ByteView body);
  void on_sasl_continue(ByteView body);
  void on_sasl_final(ByteView body);
  void on_negotiation(ByteView body);
  void on_error(ByteView body);
  void on_notice(ByteView body);
  void on_parameter_status(ByteView body);
  void on_backend_key_data(ByteView body);
  void on_ready_for_query(ByteView body);
  bool may_try_tls() const noexcept;
  void cannot_answer(std::string message, std::string hint);
  void fail(std::string sqlstate, std::string message, std::string detail = {}, std::string hint = {});

  Settings settings_;
  State state_ = State::Start;
  LoginBuffer input_;
  Bytes output_;
  bool tls_ = false;
  bool authenticated_ = false;
  bool challenged_ = false;  // the server has asked for something: no fallback to another transport any more
  Bytes channel_binding_;
  std::optional<ScramClient> scram_;
  std::size_t notice_count_ = 0;
  Bytes notices_;
  std::vector<Parameter> parameters_;
  std::int32_t process_id_ = 0;
  Bytes cancel_secret_;
  ErrorFields failure_;
  FailureSource failure_source_ = FailureSource::Sluice;
};

}  // namespace sluice::protocol
