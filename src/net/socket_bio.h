#pragma once

#include <openssl/bio.h>

namespace sluice::net {

// What a socket BIO works on and what it met last; owned by whoever made the BIO, and outlives it.
struct SocketBioState {
  int fd = -1;
  int error = 0;     // errno of the last failure, 0 = none; would-block is not one
  bool eof = false;  // the other side has ended its direction
};

// A BIO over a socket for OpenSSL. Unlike OpenSSL's own it never raises SIGPIPE, never blocks whatever the
// socket's mode, and keeps the reason of a failure. nullptr when out of memory.
BIO* new_socket_bio(SocketBioState* state) noexcept;

}  // namespace sluice::net
