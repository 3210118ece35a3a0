#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "base/bytes.h"
#include "pooling/server_statements.h"
#include "pooling/settings.h"
#include "pooling/settings_machine.h"
#include "protocol/error_response.h"
#include "protocol/reset_machine.h"

namespace sluice::router {

// What the router itself runs on a server connection between two clients: before a client has it, DISCARD ALL
// where clients are to be kept apart strictly, or where what one left is in the way of another's settings,
// and those settings; before it leaves a client, what became of settings that servers do not report. Sans-IO,
// used as protocol::ResetMachine. The connection is idle; what is given outlives the object.
class HandOver {
 public:
  enum class Purpose { Take, TakeDiscarded, Return };
  enum class Want { Read, Done, Failed };

  enum class Position { Unasked, Asked };

  // Position: whether to ask where the server's WAL ends, last of all.
  HandOver(Purpose purpose, Position position, pooling::ServerStatements& statements,
           pooling::ServerSettings& server, pooling::ClientSettings& client);

  Purpose purpose() const noexcept { return purpose_; }
  void feed(ByteView bytes);
  // Read: send take_output() if it is not empty, and feed what comes.
  Want step();
  Bytes take_output() { return std::exchange(output_, {}); }
  // After Failed, the server's words when it refuses to set a value of the client's, or to tell one, and is
  // at rest all the same. Without them it is of no more use.
  std::optional<protocol::ErrorFields> error() const;
  // After Done of Return: what its settings have become cannot follow the client.
  bool stays() const noexcept { return stays_; }
  // After Done, where it was asked for and told: bytes since the beginning of WAL.
  std::optional<std::uint64_t> position() const noexcept { return position_; }

 private:
  void begin_settings();
  Want step_settings();
  Want step_position();

  const Purpose purpose_;
  const Position asks_;
  pooling::ServerStatements& statements_;
  pooling::ServerSettings& server_;
  pooling::ClientSettings& client_;
  std::optional<protocol::ResetMachine> discard_;
  std::optional<pooling::SettingsMachine> settings_;
  std::optional<pooling::SettingsMachine> asking_;  // for the position
  std::optional<std::uint64_t> position_;
  bool stays_ = false;
  Bytes output_;
};

// What is known of a connection whose reset is Done.
void after_reset(const protocol::ResetMachine& done, pooling::ServerStatements& statements,
                 pooling::ServerSettings& settings);

}  // namespace sluice::router
