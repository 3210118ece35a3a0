#include "pooling/settings_machine.h"

#include <utility>

#include "pooling/settings.h"
#include "protocol/frontend_messages.h"

namespace sluice::pooling {
namespace {

constexpr std::string_view kCancelled = "57014";

// A row of all settings that may follow, each as long as it is asked for, in an encoding with four bytes to a
// character.
static_assert(2 + ClientSettings::kFollowedMax * (4 + 4 * (ClientSettings::kFollowedBytesMax + 1)) <=
              SettingsMachine::kBodyBytesMax);

}  // namespace

SettingsMachine::SettingsMachine(std::string sql) : sql_(std::move(sql)) {
  protocol::append_query(output_, sql_);
}

SettingsMachine::Want SettingsMachine::step() {
  while (want_ == Want::Read) {
    const auto frame = decoder_.next();
    if (!frame) {
      broken();
      break;
    }
    if (!*frame) return Want::Read;
    on_frame(**frame);
  }
  if (want_ != Want::Read && !decoder_.unread().empty()) broken();
  return want_;
}

void SettingsMachine::on_frame(const protocol::Frame& frame) {
  switch (frame.type) {
    case 'T':  // RowDescription
    case 'N':  // NoticeResponse
    case 'A':  // NotificationResponse
      return;
    case 'D':  // DataRow
      if (row_ || error_ || !on_row(frame.body)) broken();
      row_ = true;
      return;
    case 'C':  // CommandComplete
      completed_ = true;
      return;
    case 'S': {  // ParameterStatus
      ByteReader in(frame.body);
      const auto name = in.cstring();
      const auto value = in.cstring();
      if (!name || !value || reports_.size() == kReportsMax)
        broken();
      else
        reports_.emplace_back(*name, *value);
      return;
    }
    case 'E':  // ErrorResponse
      error_ = protocol::parse_error_fields(frame.body);
      return;
    case 'Z':  // ReadyForQuery
      want_ = on_ready(frame.body);
      return;
    default:
      broken();
  }
}

// The server is in no state that is known.
void SettingsMachine::broken() {
  want_ = Want::Failed;
  error_.reset();
}

SettingsMachine::Want SettingsMachine::on_ready(ByteView body) {
  const bool idle = body.size() == 1 && body[0] == std::byte{'I'};
  if (!error_) return row_ && completed_ && idle ? Want::Done : Want::Failed;
  if (!idle) error_.reset();
  if (!error_ || error_->sqlstate != kCancelled || attempts_ == kAttemptsMax) return Want::Failed;
  ++attempts_;
  error_.reset();
  row_ = completed_ = false;
  values_.clear();
  protocol::append_query(output_, sql_);
  return Want::Read;
}

bool SettingsMachine::on_row(ByteView body) {
  ByteReader in(body);
  const auto count = in.u16();
  if (!count) return false;
  for (std::uint16_t i = 0; i < *count; ++i) {
    const auto size = in.i32();
    if (!size || *size < -1) return false;
    if (*size == -1) {
      values_.emplace_back(std::nullopt);
      continue;
    }
    const auto value = in.take(static_cast<std::size_t>(*size));
    if (!value) return false;
    values_.emplace_back(std::string(as_text(*value)));
  }
  return in.remaining() == 0;
}

}  // namespace sluice::pooling
