#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <openssl/ssl.h>

#include "base/bytes.h"
#include "base/result.h"
#include "net/io_outcome.h"
#include "net/socket_bio.h"
#include "net/tls_context.h"

namespace sluice::net {

enum class TlsRole {
  Client,
  Server,        // after SSLRequest: ALPN, if the client uses it, must name "postgresql"
  DirectServer,  // TLS from the first byte: ALPN "postgresql" is required
};

// The largest plaintext of one TLS record that we send. libpq's non-blocking interface can stop in front of
// larger ones with decrypted bytes left over.
inline constexpr std::size_t kTlsRecordBytesMax = 8192;

// TLS over a non-blocking socket that somebody else owns and waits on. Never waits, knows no event loop; one
// thread at a time. Reads ahead one record's worth; buffers live only while they hold something (idle: see
// README.md for the bytes). After Eof or Failed it stays so: every later read gives the same outcome again.
class TlsSession {
 public:
  // `server_name` (Client): SNI, and what Full verification compares. `fd` must outlive the session or be
  // replaced.
  static Result<std::unique_ptr<TlsSession>> make(std::shared_ptr<const TlsContext>, TlsRole,
                                                  std::string server_name, int fd);
  TlsSession(const TlsSession&) = delete;
  TlsSession& operator=(const TlsSession&) = delete;
  ~TlsSession();

  // Ok: done. WouldBlock: wait for `want`, call again. Eof or Failed: over; a certificate that failed is a
  // make_verify_error.
  IoOutcome handshake();
  // Fills as much of `into` as needs no wait. Eof covers both close_notify and a bare end (then truncated()).
  IoOutcome read(std::span<std::byte> into);
  // After WouldBlock the next write must begin with the same bytes (at any address), at least as many.
  IoOutcome write(ByteView bytes);
  // Like read of one byte that takes nothing. Session tickets and key updates on the way are consumed:
  // WouldBlock then.
  IoOutcome peek();
  // True when read() can give an answer although the socket may have nothing: never wait on the socket then.
  bool answers_without_socket() const noexcept;
  // True when the front part of a record has come, of which nothing can be told yet.
  bool holds_part_of_record() const noexcept { return drained_ && SSL_has_pending(ssl_) != 0; }
  // Sends close_notify if the socket takes it at once, and only on a healthy session.
  void close_notify() noexcept;

  bool truncated() const noexcept { return truncated_; }
  bool resumed() const noexcept;
  const TlsContext& context() const noexcept { return *context_; }
  std::string_view alpn() const noexcept;           // "" = none
  std::string_view protocol_name() const noexcept;  // "TLSv1.3"
  std::string_view cipher_name() const noexcept;
  // The verified peer certificate's common name; "" without a certificate or without verification.
  const std::string& peer_common_name() const noexcept { return peer_common_name_; }
  // tls-server-end-point of the peer's certificate; empty without one.
  Bytes peer_end_point_hash() const;
  SSL* native() const noexcept { return ssl_; }

 private:
  TlsSession(std::shared_ptr<const TlsContext> context, TlsRole role, std::string server_name, SSL* owned)
      : context_(std::move(context)), role_(role), server_name_(std::move(server_name)), ssl_(owned) {}
  IoOutcome judge(int result);
  std::error_code check_peer();

  std::shared_ptr<const TlsContext> context_;
  TlsRole role_;
  bool end_of_stream_ = false;  // the peer's direction has ended; ours goes on unless failure_ is set
  bool truncated_ = false;      // ... without close_notify
  bool drained_ = false;        // the last read ended for lack of bytes in the socket
  std::error_code failure_;     // final
  std::string server_name_;
  std::string peer_common_name_;
  SocketBioState socket_;
  SSL* ssl_;
};

}  // namespace sluice::net
