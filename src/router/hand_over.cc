#include "router/hand_over.h"

#include <algorithm>
#include <string>
#include <utility>

namespace sluice::router {

HandOver::HandOver(Purpose purpose, pooling::ServerStatements& statements, pooling::ServerSettings& server,
                   pooling::ClientSettings& client)
    : purpose_(purpose), statements_(statements), server_(server), client_(client) {
  if (purpose == Purpose::TakeDiscarded)
    discard_.emplace('I', "DISCARD ALL");
  else
    begin_settings();
}

void HandOver::begin_settings() {
  const std::string sql = purpose_ == Purpose::Return ? client_.read_sql() : client_.sync_sql(server_);
  if (!sql.empty()) settings_.emplace(sql);
}

void HandOver::feed(ByteView bytes) {
  const auto take = [bytes](auto& machine) {
    const std::span<std::byte> room = machine.prepare(bytes.size());
    std::copy(bytes.begin(), bytes.end(), room.begin());
    machine.commit(bytes.size());
  };
  if (discard_)
    take(*discard_);
  else if (settings_)
    take(*settings_);
}

HandOver::Want HandOver::step() {
  if (discard_) {
    const protocol::ResetMachine::Want want = discard_->step();
    append(output_, discard_->take_output());
    if (want == protocol::ResetMachine::Want::Failed) return Want::Failed;
    if (want == protocol::ResetMachine::Want::Read) return Want::Read;
    statements_.forget_all();
    server_.forget_unreported();
    for (const auto& [name, value] : discard_->parameters())
      server_.on_report(name, value);
    discard_.reset();
    begin_settings();
  }
  if (!settings_) return Want::Done;
  const pooling::SettingsMachine::Want want = settings_->step();
  append(output_, settings_->take_output());
  if (want == pooling::SettingsMachine::Want::Failed) return Want::Failed;
  if (want == pooling::SettingsMachine::Want::Read) return Want::Read;
  for (const auto& [name, value] : settings_->reports())
    server_.on_report(name, value);
  if (purpose_ == Purpose::Return)
    client_.on_read(server_, settings_->values());
  else
    client_.on_synced(server_, settings_->values());
  settings_.reset();
  return Want::Done;
}

std::optional<protocol::ErrorFields> HandOver::error() const {
  if (settings_) return settings_->error();
  return std::nullopt;
}

}  // namespace sluice::router
