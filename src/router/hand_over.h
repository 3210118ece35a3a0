#pragma once

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
// where clients are to be kept apart strictly, and the client's settings; before it leaves a client, what
// became of settings that servers do not report. Sans-IO, used as protocol::ResetMachine. The connection is
// idle; what is given outlives the object.
class HandOver {
 public:
  enum class Purpose { Take, TakeDiscarded, Return };
  enum class Want { Read, Done, Failed };

  HandOver(Purpose purpose, pooling::ServerStatements& statements, pooling::ServerSettings& server,
           pooling::ClientSettings& client);

  Purpose purpose() const noexcept { return purpose_; }
  void feed(ByteView bytes);
  // Read: send take_output() if it is not empty, and feed what comes.
  Want step();
  Bytes take_output() { return std::exchange(output_, {}); }
  // After Failed, the server's words if it said any: it refused a value of the client's.
  std::optional<protocol::ErrorFields> error() const;

 private:
  void begin_settings();

  const Purpose purpose_;
  pooling::ServerStatements& statements_;
  pooling::ServerSettings& server_;
  pooling::ClientSettings& client_;
  std::optional<protocol::ResetMachine> discard_;
  std::optional<pooling::SettingsMachine> settings_;
  Bytes output_;
};

// What is known of a connection whose reset is Done.
void after_reset(const protocol::ResetMachine& done, pooling::ServerStatements& statements,
                 pooling::ServerSettings& settings);

}  // namespace sluice::router
