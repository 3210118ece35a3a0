// A statement whose plan PostgreSQL no longer takes, or that is gone from the server behind our back.
#include <string_view>
#include <utility>

#include "pooling/router_names.h"
#include "pooling/session_translator.h"

namespace sluice::pooling {
namespace {

using protocol::HeaderWalker;

enum class Staleness { None, Plan, Gone };

// Field R is the function in PostgreSQL's source that raised the error: messages are translated, it is not.
Staleness staleness(ByteView error) noexcept {
  std::string_view sqlstate;
  std::string_view routine;
  std::string_view text;
  ByteReader in(error.subspan(HeaderWalker::kHeaderBytes));
  while (const auto field = in.u8()) {
    if (*field == 0) break;
    const auto value = in.cstring();
    if (!value) break;
    if (*field == 'C') sqlstate = *value;
    if (*field == 'R') routine = *value;
    if (*field == 'M') text = *value;
  }
  if (sqlstate == "0A000" && routine == "RevalidateCachedQuery") return Staleness::Plan;
  if (sqlstate == "26000" && text.find(kNamePrefix) != std::string_view::npos) return Staleness::Gone;
  return Staleness::None;
}

}  // namespace

// True: the message about to be sent is the first that is recorded.
bool SessionTranslator::begin_recording(const Statement& statement, bool relied_on) {
  if (replay_state_ != Replay::Unspoilt || status_ != 'I') return false;
  server_->replay_.clear();
  replay_state_ = Replay::Recording;
  replay_statement_ = &statement;
  replay_relied_on_ = relied_on;
  replay_describes_ = false;
  return true;
}

void SessionTranslator::record(ByteView bytes) {
  if (replay_state_ != Replay::Recording) return;
  if (server_->replay_.size() + bytes.size() > options_.replay_bytes_max)
    replay_state_ = Replay::Spoilt;
  else
    append(server_->replay_, bytes);
}

bool SessionTranslator::recover(ByteView error, Pieces& to_server) {
  if (requests_.front().kind != RequestKind::Replayable || failed_ || status_ != 'I') return false;
  if (replay_state_ != Replay::Recording && replay_state_ != Replay::Recorded) return false;
  if (replay_relied_on_ && !replay_describes_) return false;
  if (!requests_.only_plain_behind_front()) return false;
  const bool sync_sent = requests_.owes_ready();
  if (sync_sent != (replay_state_ == Replay::Recorded)) return false;
  if (frontend_.in_body() && body_ == Body::Forward) return false;
  ServerStatements::Entry* entry = server_->find(*replay_statement_);
  if (entry == nullptr || staleness(error) == Staleness::None) return false;

  std::vector<RequestQueue::Entry> skipped;
  requests_.skip_to_sync(skipped);
  if (!sync_sent) {
    append(to_server.own(), as_bytes(std::string_view("S\0\0\0\4", 5)));
    to_server.own_done();
    push(RequestKind::Sync);
  }
  entry->stale = true;
  recovering_ = entry->statement;
  recovery_ = Recovery::AwaitsReady;
  replay_error_.assign(error.begin(), error.end());
  return true;
}

// The error is the client's; the next use of the statement on this server prepares it anew.
void SessionTranslator::forget_stale(ByteView error) {
  if (names_.size() == 0 || staleness(error) == Staleness::None) return;
  // Which Bind it was is not on record: all of this client's, as this is rare and a Parse is cheap.
  names_.for_each([this](std::string_view, const ClientNames::Entry& known) {
    if (ServerStatements::Entry* entry = server_->find(*known.statement)) entry->stale = true;
  });
}

void SessionTranslator::send_again(Pieces& to_server) {
  const StatementPtr statement = std::move(recovering_);
  make_room(statement, to_server);
  send_parse(statement->name(), statement->body(), to_server);
  server_->insert(statement);
  auto detail = std::make_unique<RequestDetail>();
  detail->statement = statement;
  push(RequestKind::InjectedParse, std::move(detail));

  append(to_server.own(), server_->replay_);
  to_server.own_done();
  bool synced = false;
  ByteReader in(server_->replay_);
  while (const auto type = in.u8()) {
    const auto length = in.u32();
    if (!length || *length < 4 || !in.take(*length - 4)) break;
    synced = *type == 'S';
    if (synced)
      push(RequestKind::Sync);
    else if (*type != 'H' || *length > 4)
      requests_.push(RequestKind::Plain);
  }
  replay_state_ = synced ? Replay::Unspoilt : Replay::Spoilt;
}

}  // namespace sluice::pooling
