#pragma once

#include "base/bytes.h"
#include "net/io_outcome.h"

namespace sluice::net {

// One attempt on a non-blocking plain socket; Eof does not come.
IoOutcome send_now(int fd, ByteView bytes) noexcept;

}  // namespace sluice::net
