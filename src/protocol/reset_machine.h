#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "protocol/error_response.h"
#include "protocol/frame_decoder.h"

namespace sluice::protocol {

// Brings a server connection between two sessions back to the state of a fresh one: ROLLBACK when a
// transaction block is left open, then the reset query (PostgreSQL: DISCARD ALL). Sans-IO. Use:    send
// take_output(), read into prepare(), commit(), step(); while Read, again. No timeout of its own. Rule: Done
// only when every query ended with CommandComplete (or EmptyQueryResponse), without an error, and
//         ReadyForQuery with status I; nothing may follow it. Anything else is Failed: close the connection.
// Start:  the connection owes nothing and is between messages (SessionTracker::ready_for_reset()); Syncs in
//         doubt may be answered in front of the first query, as a server answers in order.
class ResetMachine {
 public:
  enum class Want { Read, Done, Failed };
  // Why Failed, for logs and counters. `error` has the server's own words where it sent an ErrorResponse.
  struct Failure {
    enum class Kind : std::uint8_t {
      ServerError,
      NoCommandComplete,
      NotIdle,
      UnexpectedMessage,
      Malformed,
      TrailingBytes
    };
    Kind kind;
    ErrorFields error;
  };

  // `status`: of the connection's last ReadyForQuery, I, T or E. An empty query resets nothing but the
  // transaction. `doubtful_syncs`: of SessionTracker.
  ResetMachine(char status, std::string reset_query, std::uint32_t doubtful_syncs = 0);

  // Bytes to send now; empties the store.
  Bytes take_output();
  std::span<std::byte> prepare(std::size_t bytes) { return decoder_.prepare(bytes); }
  void commit(std::size_t bytes) { decoder_.commit(bytes); }
  Want step();

  // After Failed.
  const std::optional<Failure>& failure() const noexcept { return failure_; }
  // The settings the server reported meanwhile, in order: what the next client must be told.
  const std::vector<std::pair<std::string, std::string>>& parameters() const noexcept { return parameters_; }

  static constexpr std::uint32_t kBodyBytesMax = 64 * 1024;  // of one reply
  static constexpr std::size_t kParametersMax = 256;         // more is no reset any more

 private:
  enum class State : std::uint8_t { Rollback, Reset, Done, Failed };

  void send(const std::string& sql);
  void on_frame(const Frame& frame);
  void on_ready(ByteView body);
  void fail(Failure::Kind kind, ErrorFields error = {});

  std::string reset_query_;
  std::uint32_t doubtful_syncs_;
  Bytes output_;
  FrameDecoder decoder_{kBodyBytesMax};
  State state_;
  bool completed_ = false;  // the query at work has had its CommandComplete
  std::optional<Failure> failure_;
  std::vector<std::pair<std::string, std::string>> parameters_;
};

}  // namespace sluice::protocol
