#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "protocol/error_response.h"
#include "protocol/frame_decoder.h"

namespace sluice::pooling {

// Runs one of ClientSettings' SELECTs on an idle server connection that owes nothing, and keeps its row.
// Sans-IO, used as protocol::ResetMachine: send take_output(), read into prepare(), commit(), step(); while
// Read, again. Rule:   Done only after one row, CommandComplete and ReadyForQuery with status I, and nothing
// behind it. Failed:
//         close the connection; error() has the server's words if it sent an ErrorResponse (the client's
//         value was refused: tell it, as a FATAL).
class SettingsMachine {
 public:
  enum class Want { Read, Done, Failed };
  using Report = std::pair<std::string, std::string>;  // name, value

  explicit SettingsMachine(const std::string& sql);

  Bytes take_output() { return std::exchange(output_, {}); }
  std::span<std::byte> prepare(std::size_t bytes) { return decoder_.prepare(bytes); }
  void commit(std::size_t bytes) { decoder_.commit(bytes); }
  Want step();

  // After Done. NULL is "".
  const std::vector<std::optional<std::string>>& values() const noexcept { return values_; }
  // What the server reported meanwhile, in order: for ServerSettings::on_reports(), before on_synced().
  const std::vector<Report>& reports() const noexcept { return reports_; }
  const std::optional<protocol::ErrorFields>& error() const noexcept { return error_; }

  static constexpr std::uint32_t kBodyBytesMax = 256 * 1024;  // of one message
  static constexpr std::size_t kReportsMax = 256;

 private:
  void on_frame(const protocol::Frame& frame);
  bool on_row(ByteView body);

  Bytes output_;
  protocol::FrameDecoder decoder_{kBodyBytesMax};
  Want want_ = Want::Read;
  bool row_ = false;
  bool completed_ = false;
  std::vector<std::optional<std::string>> values_;  // none: NULL
  std::vector<Report> reports_;
  std::optional<protocol::ErrorFields> error_;
};

}  // namespace sluice::pooling
