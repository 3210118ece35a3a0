#include "net/socket_bio.h"

#include <cerrno>

#include <sys/socket.h>

namespace sluice::net {
namespace {

SocketBioState& state_of(BIO* bio) noexcept {
  return *static_cast<SocketBioState*>(BIO_get_data(bio));
}

int transferred(BIO* bio, ssize_t count, bool reading) noexcept {
  if (count >= 0) return static_cast<int>(count);
  if (errno == EAGAIN || errno == EWOULDBLOCK) {
    reading ? BIO_set_retry_read(bio) : BIO_set_retry_write(bio);
  } else {
    state_of(bio).error = errno;
  }
  return -1;
}

int bio_read(BIO* bio, char* into, int size) {
  BIO_clear_retry_flags(bio);
  if (size <= 0) return 0;
  ssize_t count = 0;
  do {
    count = ::recv(state_of(bio).fd, into, static_cast<std::size_t>(size), MSG_DONTWAIT);
  } while (count < 0 && errno == EINTR);
  if (count == 0) state_of(bio).eof = true;
  return transferred(bio, count, true);
}

int bio_write(BIO* bio, const char* bytes, int size) {
  BIO_clear_retry_flags(bio);
  if (size <= 0) return 0;
  ssize_t count = 0;
  do {
    count = ::send(state_of(bio).fd, bytes, static_cast<std::size_t>(size), MSG_DONTWAIT | MSG_NOSIGNAL);
  } while (count < 0 && errno == EINTR);
  return transferred(bio, count, false);
}

long bio_ctrl(BIO* bio, int command, long, void*) {
  switch (command) {
    case BIO_CTRL_FLUSH:
      return 1;
    case BIO_CTRL_EOF:
      return state_of(bio).eof ? 1 : 0;
    default:
      return 0;
  }
}

BIO_METHOD* make_method() noexcept {
  BIO_METHOD* method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "sluice socket");
  if (method == nullptr) return nullptr;
  BIO_meth_set_read(method, bio_read);
  BIO_meth_set_write(method, bio_write);
  BIO_meth_set_ctrl(method, bio_ctrl);
  return method;
}

}  // namespace

BIO* new_socket_bio(SocketBioState* state) noexcept {
  static BIO_METHOD* const method = make_method();  // lives as long as the program
  if (method == nullptr) return nullptr;
  BIO* bio = BIO_new(method);
  if (bio == nullptr) return nullptr;
  BIO_set_data(bio, state);
  BIO_set_init(bio, 1);
  return bio;
}

}  // namespace sluice::net
