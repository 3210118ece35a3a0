#include "pooling/settings_machine.h"

#include "protocol/frontend_messages.h"

namespace sluice::pooling {

SettingsMachine::SettingsMachine(const std::string& sql) {
  protocol::append_query(output_, sql);
}

SettingsMachine::Want SettingsMachine::step() {
  while (want_ == Want::Read) {
    const auto frame = decoder_.next();
    if (!frame) {
      want_ = Want::Failed;
      break;
    }
    if (!*frame) return Want::Read;
    on_frame(**frame);
  }
  if (want_ == Want::Done && !decoder_.unread().empty()) want_ = Want::Failed;
  return want_;
}

void SettingsMachine::on_frame(const protocol::Frame& frame) {
  switch (frame.type) {
    case 'T':  // RowDescription
    case 'N':  // NoticeResponse
    case 'A':  // NotificationResponse
      return;
    case 'D':  // DataRow
      if (row_ || !on_row(frame.body)) want_ = Want::Failed;
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
        want_ = Want::Failed;
      else
        reports_.emplace_back(*name, *value);
      return;
    }
    case 'E':  // ErrorResponse
      error_ = protocol::parse_error_fields(frame.body);
      want_ = Want::Failed;
      return;
    case 'Z':  // ReadyForQuery
      want_ = row_ && completed_ && frame.body.size() == 1 && frame.body[0] == std::byte{'I'} ? Want::Done
                                                                                              : Want::Failed;
      return;
    default:
      want_ = Want::Failed;
  }
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
