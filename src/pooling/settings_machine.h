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
// Read, again.
// Rule:   Done only after one row, CommandComplete and ReadyForQuery with status I, and nothing behind it.
//         What a late CancelRequest of the client's, or its own statement_timeout, cuts short (57014) is
//         asked again, kAttemptsMax times in all.
// Failed: error() has the server's words when it refuses (a value of the client's, say) and is at rest all
//         the same. Without them the connection is to be closed.
class SettingsMachine {
 public:
  static constexpr int kAttemptsMax = 4;
  enum class Want { Read, Done, Failed };
  using Report = std::pair<std::string, std::string>;  // name, value

  explicit SettingsMachine(std::string sql);

  Bytes take_output() { return std::exchange(output_, {}); }
  std::span<std::byte> prepare(std::size_t bytes) { return decoder_.prepare(bytes); }
  void commit(std::size_t bytes) { decoder_.commit(bytes); }
  Want step();

  // After Done, of the row; nothing stands for NULL.
  const std::vector<std::optional<std::string>>& values() const noexcept { return values_; }
  // What the server reported meanwhile, in order: for ServerSettings::on_reports(), before on_synced().
  const std::vector<Report>& reports() const noexcept { return reports_; }
  const std::optional<protocol::ErrorFields>& error() const noexcept { return error_; }

  static constexpr std::uint32_t kBodyBytesMax = 17 * 1024 * 1024;  // of one message
  static constexpr std::size_t kReportsMax = 256;

 private:
  void on_frame(const protocol::Frame& frame);
  Want on_ready(ByteView body);
  void broken();
  bool on_row(ByteView body);

  const std::string sql_;
  Bytes output_;
  protocol::FrameDecoder decoder_{kBodyBytesMax};
  Want want_ = Want::Read;
  bool row_ = false;
  bool completed_ = false;
  int attempts_ = 1;
  std::vector<std::optional<std::string>> values_;  // none: NULL
  std::vector<Report> reports_;
  std::optional<protocol::ErrorFields> error_;
};

}  // namespace sluice::pooling
