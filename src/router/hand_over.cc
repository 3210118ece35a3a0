#include "router/hand_over.h"

#include <charconv>
#include <string>
#include <utility>

namespace sluice::router {

namespace {

// Of what was committed before: insert, not flush, so that it holds with synchronous_commit off, too.
constexpr const char* kPosition =
    "SELECT pg_catalog.pg_wal_lsn_diff(pg_catalog.pg_current_wal_insert_lsn(), '0/0')";

}  // namespace

void after_reset(const protocol::ResetMachine& done, pooling::ServerStatements& statements,
                 pooling::ServerSettings& settings) {
  statements.forget_all();
  settings.forget_unreported();
  settings.on_reports(done.parameters());
}

HandOver::HandOver(Purpose purpose, Position position, pooling::ServerStatements& statements,
                   pooling::ServerSettings& server, pooling::ClientSettings& client)
    : purpose_(purpose), asks_(position), statements_(statements), server_(server), client_(client) {
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
  else if (asking_)
    protocol::feed(*asking_, bytes);
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
  while (settings_) {
    const Want want = step_settings();
    if (want != Want::Done) return want;
  }
  return asks_ == Position::Asked && !position_ ? step_position() : Want::Done;
}

HandOver::Want HandOver::step_settings() {
  const pooling::SettingsMachine::Want want = settings_->step();
  append(output_, settings_->take_output());
  if (want == pooling::SettingsMachine::Want::Failed) return Want::Failed;
  if (want == pooling::SettingsMachine::Want::Read) return Want::Read;
  server_.on_reports(settings_->reports());
  bool more = false;
  if (purpose_ == Purpose::Return)
    stays_ = !client_.on_read(server_, settings_->values());
  else
    more = client_.on_synced(server_, settings_->values());
  settings_.reset();
  if (more) begin_settings();
  return Want::Done;
}

HandOver::Want HandOver::step_position() {
  if (!asking_) asking_.emplace(kPosition);
  const pooling::SettingsMachine::Want want = asking_->step();
  append(output_, asking_->take_output());
  // One that is no primary any more has none, and its client is no worse off for not knowing it.
  if (want == pooling::SettingsMachine::Want::Failed) return asking_->error() ? Want::Done : Want::Failed;
  if (want == pooling::SettingsMachine::Want::Read) return Want::Read;
  server_.on_reports(asking_->reports());
  const auto& values = asking_->values();
  if (values.size() != 1 || !values[0]) return Want::Failed;
  std::uint64_t position = 0;
  const char* const end = values[0]->data() + values[0]->size();
  if (std::from_chars(values[0]->data(), end, position).ptr != end) return Want::Failed;
  position_ = position;
  asking_.reset();
  return Want::Done;
}

std::optional<protocol::ErrorFields> HandOver::error() const {
  if (settings_) return settings_->error();
  return std::nullopt;
}

}  // namespace sluice::router
