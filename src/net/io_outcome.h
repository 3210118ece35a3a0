#pragma once

#include <cstddef>
#include <system_error>

namespace sluice::net {

enum class IoStatus {
  Ok,          // bytes > 0 (or an empty request): go on
  WouldBlock,  // nothing moved; wait for `want`, then ask again
  Eof,         // the other side has ended its direction; see Stream::truncated() for TLS
  Failed,      // the connection is of no more use; `error` says why
};

// Which readiness of the socket lets the operation go on. Over TLS a read may have to write (a key update)
// and a write may have to read.
enum class IoWant { Read, Write };

// What one non-blocking attempt came to.
struct IoOutcome {
  std::size_t bytes = 0;
  IoStatus status = IoStatus::Ok;
  IoWant want = IoWant::Read;  // meaningful for WouldBlock
  std::error_code error;       // set for Failed alone

  static IoOutcome ok(std::size_t n) noexcept { return {n, IoStatus::Ok, IoWant::Read, {}}; }
  static IoOutcome would_block(IoWant w) noexcept { return {0, IoStatus::WouldBlock, w, {}}; }
  static IoOutcome eof() noexcept { return {0, IoStatus::Eof, IoWant::Read, {}}; }
  static IoOutcome failed(std::error_code e) noexcept { return {0, IoStatus::Failed, IoWant::Read, e}; }
};

}  // namespace sluice::net
