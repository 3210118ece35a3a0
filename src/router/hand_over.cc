#include "router/hand_over.h"

#include <string>
#include <utility>

namespace sluice::router {

void after_reset(const protocol::ResetMachine& done, pooling::ServerStatements& statements,
                 pooling::ServerSettings& settings) {
  statements.forget_all();
  settings.forget_unreported();
  settings.on_reports(done.parameters());
}

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
  if (discard_)
    protocol::feed(*discard_, bytes);
  else if (settings_)
    protocol::feed(*settings_, bytes);
}

HandOver::Want HandOver::step() {
  if (discard_) {
    const protocol::ResetMachine::Want want = discard_->step();
    append(output_, discard_->take_output());
    if (want == protocol::ResetMachine::Want::Failed) return Want::Failed;
    if (want == protocol::ResetMachine::Want::Read) return Want::Read;
    after_reset(*discard_, statements_, server_);
    discard_.reset();
    begin_settings();
  }
  if (!settings_) return Want::Done;
  const pooling::SettingsMachine::Want want = settings_->step();
  append(output_, settings_->take_output());
  if (want == pooling::SettingsMachine::Want::Failed) return Want::Failed;
  if (want == pooling::SettingsMachine::Want::Read) return Want::Read;
  server_.on_reports(settings_->reports());
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
