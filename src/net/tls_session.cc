#include "net/tls_session.h"

#include <algorithm>
#include <cerrno>
#include <climits>

#include <openssl/err.h>
#include <openssl/x509v3.h>

#include "base/error.h"
#include "net/net_error.h"
#include "net/peer_name.h"

namespace sluice::net {
namespace {

// One call of read or write moves no more, so that a fast peer cannot hold the thread.
constexpr std::size_t kAttemptBytesMax = 256 * 1024;

}  // namespace

Result<std::unique_ptr<TlsSession>> TlsSession::make(std::shared_ptr<const TlsContext> context, TlsRole role,
                                                     std::string server_name, int fd) {
  ERR_clear_error();
  SSL* ssl = SSL_new(context->native());
  if (ssl == nullptr) return Error(make_tls_error(ERR_get_error()));
  std::unique_ptr<TlsSession> session(new TlsSession(std::move(context), role, std::move(server_name), ssl));
  session->socket_.fd = fd;
  BIO* bio = new_socket_bio(&session->socket_);
  if (bio == nullptr) return Error(make_tls_error(ERR_get_error()));
  SSL_set_bio(ssl, bio, bio);
  if (role != TlsRole::Client) {
    SSL_set_accept_state(ssl);
    return session;
  }
  SSL_set_connect_state(ssl);
  // RFC 6066: SNI carries host names alone.
  if (!session->server_name_.empty() && !is_ip_address(session->server_name_)) {
    SSL_set_tlsext_host_name(ssl, session->server_name_.c_str());
  }
  return session;
}

TlsSession::~TlsSession() {
  SSL_free(ssl_);
}

IoOutcome TlsSession::handshake() {
  if (failure_) return IoOutcome::failed(failure_);
  ERR_clear_error();
  const int result = SSL_do_handshake(ssl_);
  if (result != 1) return judge(result);
  if (const std::error_code refused = check_peer()) {
    failure_ = refused;
    return IoOutcome::failed(refused);
  }
  return IoOutcome::ok(0);
}

std::error_code TlsSession::check_peer() {
  if (role_ == TlsRole::DirectServer && alpn() != "postgresql") return NetErrc::AlpnRequired;
  const X509* certificate = SSL_get0_peer_certificate(ssl_);
  if (role_ == TlsRole::Client) {
    if (context_->verification() != PeerVerification::Full) return {};
    return check_host(certificate, server_name_);
  }
  // With SSL_VERIFY_PEER a certificate that did not verify has already ended the handshake.
  if (certificate == nullptr || SSL_get_verify_result(ssl_) != X509_V_OK) return {};
  Result<std::string> name = common_name(certificate);
  if (!name) return name.error().code;
  peer_common_name_ = *std::move(name);
  return {};
}

IoOutcome TlsSession::read(std::span<std::byte> into) {
  if (end_of_stream_) return IoOutcome::eof();
  if (failure_) return IoOutcome::failed(failure_);
  const std::size_t room = std::min(into.size(), kAttemptBytesMax);
  std::size_t done = 0;
  while (done < room) {
    ERR_clear_error();
    std::size_t count = 0;
    const int result = SSL_read_ex(ssl_, into.data() + done, room - done, &count);
    if (result != 1) {
      const IoOutcome outcome = judge(result);
      drained_ = outcome.status == IoStatus::WouldBlock;
      return done > 0 ? IoOutcome::ok(done) : outcome;
    }
    done += count;
    drained_ = false;
    if (SSL_has_pending(ssl_) == 0) break;  // a further attempt would most likely be a recv for nothing
  }
  return IoOutcome::ok(done);
}

IoOutcome TlsSession::write(ByteView bytes) {
  if (failure_) return IoOutcome::failed(failure_);
  const std::size_t size = std::min(bytes.size(), kAttemptBytesMax);
  std::size_t done = 0;
  while (done < size) {
    ERR_clear_error();
    std::size_t count = 0;
    // One record, at most kTlsRecordBytesMax (the context's maximum fragment), per call. The whole rest is
    // passed because a retry may not be shorter than the attempt that would block.
    const int result = SSL_write_ex(ssl_, bytes.data() + done, bytes.size() - done, &count);
    if (result != 1) {
      const IoOutcome outcome = judge(result);
      return done > 0 ? IoOutcome::ok(done) : outcome;
    }
    done += count;
  }
  return IoOutcome::ok(done);
}

IoOutcome TlsSession::peek() {
  if (end_of_stream_) return IoOutcome::eof();
  if (failure_) return IoOutcome::failed(failure_);
  ERR_clear_error();
  char byte = 0;
  std::size_t count = 0;
  const int result = SSL_peek_ex(ssl_, &byte, 1, &count);
  if (result == 1) {
    drained_ = false;
    return IoOutcome::ok(count);
  }
  const IoOutcome outcome = judge(result);
  drained_ = outcome.status == IoStatus::WouldBlock;
  // Taking in a session ticket leaves a write buffer behind until the next write, which an idle connection
  // may never make.
  if (drained_) SSL_free_buffers(ssl_);
  return outcome;
}

IoOutcome TlsSession::judge(int result) {
  const int kind = SSL_get_error(ssl_, result);
  if (kind == SSL_ERROR_WANT_READ) return IoOutcome::would_block(IoWant::Read);
  if (kind == SSL_ERROR_WANT_WRITE) return IoOutcome::would_block(IoWant::Write);
  if (kind == SSL_ERROR_ZERO_RETURN) {
    end_of_stream_ = true;
    return IoOutcome::eof();
  }
  // From here on OpenSSL forbids any further use of the session.
  const unsigned long packed = ERR_peek_error();
  if (socket_.eof) {  // before the error: OpenSSL answers a bare end with an alert, whose sending may fail
    failure_ = BaseErrc::Closed;
    end_of_stream_ = truncated_ = true;
  } else if (socket_.error != 0) {
    failure_ = {socket_.error, std::system_category()};
  } else if (ERR_GET_REASON(packed) == SSL_R_CERTIFICATE_VERIFY_FAILED &&
             SSL_get_verify_result(ssl_) != X509_V_OK) {
    failure_ = make_verify_error(SSL_get_verify_result(ssl_));
  } else {
    failure_ = make_tls_error(packed);
  }
  ERR_clear_error();
  return end_of_stream_ ? IoOutcome::eof() : IoOutcome::failed(failure_);
}

bool TlsSession::answers_without_socket() const noexcept {
  if (end_of_stream_ || failure_) return true;
  // After a read that found too little, what is pending is the front part of a record.
  return !drained_ && SSL_has_pending(ssl_) != 0;
}

void TlsSession::close_notify() noexcept {
  if (failure_ || SSL_in_init(ssl_) != 0) return;
  ERR_clear_error();
  SSL_shutdown(ssl_);
  ERR_clear_error();
}

bool TlsSession::resumed() const noexcept {
  return SSL_session_reused(ssl_) != 0;
}

std::string_view TlsSession::alpn() const noexcept {
  const unsigned char* name = nullptr;
  unsigned int size = 0;
  SSL_get0_alpn_selected(ssl_, &name, &size);
  return {reinterpret_cast<const char*>(name), size};
}

std::string_view TlsSession::protocol_name() const noexcept {
  return SSL_get_version(ssl_);
}

std::string_view TlsSession::cipher_name() const noexcept {
  const char* name = SSL_get_cipher_name(ssl_);
  return name != nullptr ? name : "";
}

Bytes TlsSession::peer_end_point_hash() const {
  return end_point_hash(SSL_get0_peer_certificate(ssl_));
}

}  // namespace sluice::net
