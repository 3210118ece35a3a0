#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include <asio/awaitable.hpp>
#include <asio/steady_timer.hpp>

#include "base/bytes.h"
#include "base/result.h"
#include "protocol/startup_packet.h"
#include "router/snapshot.h"

namespace sluice::router {

// Which query to cancel, by the key that the server gave for its connection.
struct CancelTarget {
  ServerId server;
  std::int32_t process_id = 0;
  Bytes secret;
};

// Cancels of one kind that a thread works on at once.
inline constexpr int kCancelsRunningMax = 256;

// A thread's turns to cancel queries of its own sessions: beyond kCancelsRunningMax one waits for its turn,
// in the order of arrival. Thread: one.
class CancelTurns {
 public:
  // give_back() once it is done.
  asio::awaitable<void> take();
  void give_back();

 private:
  int running_ = 0;
  // A wait that the thread's end cuts off outlives the object.
  std::deque<std::shared_ptr<asio::steady_timer>> waiting_;
};

// How many cancels of keys that no session here has a thread looks into: kCancelsRunningMax at once, and
// `rate` per second, refilled all the time, at most one second's worth at once. Further ones are dropped. A
// rate of 0 is no limit.
class CancelAllowance {
 public:
  using Clock = std::chrono::steady_clock;

  // True: give_back() once it is done.
  bool take(double rate, Clock::time_point now);
  void give_back() noexcept { --running_; }

 private:
  int running_ = 0;
  double tokens_ = 0;
  Clock::time_point refilled_at_{};
};

// Sends a CancelRequest and returns when the server closes the connection: by then it has signalled its
// backend, so a connection that is handed on afterwards cannot be hit. Over TLS where sslmode requires it.
// Errors: no connection, or BaseErrc::Timeout when that takes longer than `timeout` altogether.
asio::awaitable<Result<void>> send_cancel(SnapshotPtr snapshot, CancelTarget target,
                                          std::chrono::milliseconds timeout);

// The same to other routers of this machine, by their Unix sockets, one after the other: whose it is, only
// they know. Tells whether any took it. `timeout` for each.
asio::awaitable<bool> pass_cancel_on(std::vector<std::string> paths, protocol::CancelRequest request,
                                     std::chrono::milliseconds timeout);

}  // namespace sluice::router
