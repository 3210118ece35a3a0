// What the texts of Query and Parse do to the session: names, settings, what is listened to, what pins.
#include <algorithm>
#include <utility>

#include "pooling/router_names.h"
#include "pooling/session_translator.h"
#include "pooling/sql_classifier.h"

namespace sluice::pooling {
namespace {

// Answered as UNLISTEN; the tag of a LISTEN is put in its place.
constexpr std::string_view kInsteadOfListen = "UNLISTEN \"sluice.nobody\"";
constexpr std::string_view kInsteadOfDeallocate = "DEALLOCATE \"sluice.guard\"";

// What acts on names, or on what is listened to, when it is executed.
bool acts(SqlAction action) noexcept {
  switch (action) {
    case SqlAction::Other:
    case SqlAction::Set:
    case SqlAction::Reset:
    case SqlAction::ResetAll:
      return false;
    case SqlAction::DiscardAll:
    case SqlAction::DeallocateAll:
    case SqlAction::Deallocate:
    case SqlAction::Listen:
    case SqlAction::Unlisten:
    case SqlAction::UnlistenAll:
      return true;
  }
  return false;
}

void append_query(Bytes& out, std::string_view sql) {
  ByteWriter writer(out);
  writer.u8('Q');
  writer.u32(static_cast<std::uint32_t>(4 + sql.size() + 1));
  writer.cstring(sql);
}

}  // namespace

bool SessionTranslator::on_query(const Message& message, Pieces& out) {
  const std::string_view text = as_text(message.body);
  const std::string_view sql = text.substr(0, text.find('\0'));
  if (message.whole() && surely_ordinary(sql)) [[likely]] {
    unnamed_gone();
    send(message, out);
    requests_.push(RequestKind::Query);
    replay_state_ = Replay::Unspoilt;
    return true;
  }
  SqlFacts facts = classify(sql, settings_.backslash());
  facts.truncated = facts.truncated || !message.whole();
  if (!on_query_of_interest(message, facts, out)) return false;
  replay_state_ = Replay::Unspoilt;
  return true;
}

bool SessionTranslator::on_query_of_interest(const Message& message, const SqlFacts& facts, Pieces& out) {
  const bool acting = std::any_of(facts.steps.begin(), facts.steps.end(),
                                  [](const SqlStep& step) { return acts(step.action); });
  if (acting && requests_.owes_ready()) return false;
  if (const auto reason = refusal(facts)) {
    refuse(RequestKind::RefusedQuery, *reason, out);
    if (!message.whole()) body_ = Body::Drop;
    return true;
  }
  const std::string_view replaced_by = message.whole() ? replacement(facts) : std::string_view();
  apply(facts, !replaced_by.empty());
  RequestQueue::Detail detail;
  if (acting || facts.truncated) {
    detail = std::make_unique<RequestDetail>();
    detail->steps = facts.steps;
    detail->truncated = facts.truncated;
  }
  if (replaced_by == kInsteadOfDeallocate) provide_guard(out);
  unnamed_gone();
  if (replaced_by.empty()) {
    send(message, out);
  } else {
    append_query(out.own(), replaced_by);
    out.own_done();
  }
  push(RequestKind::Query, std::move(detail));
  return true;
}

std::optional<PinReason> SessionTranslator::refusal(const SqlFacts& facts) const {
  if (options_.on_pin == TranslatorOptions::OnPin::Pin || facts.ordinary()) return std::nullopt;
  if (const auto reason = facts.pins.first()) return reason;
  for (const SqlStep& step : facts.steps) {
    if ((step.action == SqlAction::Set || step.action == SqlAction::Reset) && !settings_.follows(step.name))
      return PinReason::Set;
    if (step.action == SqlAction::Listen && options_.own_listener && replacement(facts).empty())
      return PinReason::Listen;
  }
  if (facts.truncated && facts.statement_count > 1) return PinReason::LargeQuery;
  return std::nullopt;
}

// A text that no server can parse stands for what is refused, so that the error comes in its place and the
// server skips, or fails the transaction, as with any other. The name is nobody's, so that nothing is lost by
// it.
void SessionTranslator::refuse(RequestKind kind, PinReason reason, Pieces& out) {
  auto detail = std::make_unique<RequestDetail>();
  detail->reason = reason;
  if (kind == RequestKind::RefusedParse) {
    Bytes body;
    ByteWriter writer(body);
    writer.cstring(kRefusedSql);
    writer.u16(0);
    send_parse(kNobodyName, body, out);
  } else {
    unnamed_gone();
    append_query(out.own(), kRefusedSql);
    out.own_done();
  }
  push(kind, std::move(detail));
}

// The text to send in place of one that names what the server does not know, or is not to do; else "".
std::string_view SessionTranslator::replacement(const SqlFacts& facts) const {
  const SqlStep* step = facts.only_step();
  if (step == nullptr || !facts.pins.empty()) return {};
  if (step->action == SqlAction::Listen && options_.own_listener) return kInsteadOfListen;
  if (step->action == SqlAction::Deallocate && names_.find(step->name) != nullptr)
    return kInsteadOfDeallocate;
  return {};
}

void SessionTranslator::apply(const SqlFacts& facts, bool replaced) {
  pins_.add(facts.pins);
  if (facts.truncated && facts.statement_count > 1) pins_.add(PinReason::LargeQuery);
  for (const SqlStep& step : facts.steps) {
    switch (step.action) {
      case SqlAction::Set:
        if (!settings_.on_set(step.name)) pins_.add(PinReason::Set);
        break;
      case SqlAction::Reset:
        if (!settings_.on_reset(step.name)) pins_.add(PinReason::Set);
        break;
      case SqlAction::ResetAll:
        settings_.on_reset_all(*server_settings_);
        break;
      case SqlAction::Listen:
        if (!replaced && options_.own_listener) pins_.add(PinReason::Listen);
        break;
      case SqlAction::Other:
      case SqlAction::DiscardAll:
      case SqlAction::DeallocateAll:
      case SqlAction::Deallocate:
      case SqlAction::Unlisten:
      case SqlAction::UnlistenAll:
        break;
    }
  }
}

void SessionTranslator::drop_portal(std::string_view name) {
  std::erase_if(portals_, [&](const Portal& portal) { return portal.name == name; });
}

void SessionTranslator::add_portal(std::string_view name, const SqlFacts& facts, bool replaced) {
  const SqlStep* step = facts.only_step();
  if (step == nullptr || !acts(step->action) || portals_.size() >= kPortalsMax) return;
  if (!replaced && (step->action == SqlAction::Listen || step->action == SqlAction::Deallocate)) return;
  portals_.push_back(Portal{std::string(name), *step});
}

// A step is done as soon as it is sent, for the sake of what the batch sends behind it. undo() takes it back
// when the server does not get to it.
void SessionTranslator::begin_step(const SqlStep& step, RequestDetail& detail, Pieces& out) {
  detail.steps.push_back(step);
  if (step.action == SqlAction::Deallocate) {
    detail.name = step.name;
    ClientNames::Entry* entry = names_.find(step.name);
    if (entry == nullptr) return remove_guard(out);
    provide_guard(out);
    detail.guard = true;
    detail.statement = entry->statement;
    detail.described = entry->described;
    bound_ = nullptr;
    names_.erase(step.name);
    server_->guard_ = false;
  } else if (step.action == SqlAction::DeallocateAll || step.action == SqlAction::DiscardAll) {
    detail.on_server = server_->entries();
    detail.guard = server_->guard_;
    detail.names = std::make_unique<ClientNames>(std::move(names_));
    forget_all_names();
  }
}

void SessionTranslator::forget_all_names() {
  bound_ = nullptr;
  replay_state_ = Replay::Spoilt;
  names_.clear();
  server_->forget_all();
  if (unnamed_on_server_) claim_unnamed();
}

// A CommandComplete of a Query (with detail when it has steps), or of an Execute with a step.
void SessionTranslator::on_tag(std::string_view tag, RequestDetail* detail, bool begun) {
  rolled_back_ = tag == "ROLLBACK";
  if (detail != nullptr && detail->truncated && ++detail->completions > 1) pins_.add(PinReason::LargeQuery);
  if (tag == "LISTEN") pins_.add(PinReason::Listen);
  const bool all = tag == "DISCARD ALL";
  if (all || tag == "DEALLOCATE ALL") {
    if (!begun) forget_all_names();
    if (all) after_discard_all();
    return;
  }
  if (detail == nullptr) return;
  const auto next = [&](auto wanted) -> const SqlStep* {
    while (detail->next_step < detail->steps.size()) {
      const SqlStep& step = detail->steps[detail->next_step++];
      if (wanted(step.action)) return &step;
    }
    return nullptr;
  };
  if (tag == "DEALLOCATE" && !begun) {
    const SqlStep* step = next([](SqlAction action) { return action == SqlAction::Deallocate; });
    if (step == nullptr || detail->steps.size() != 1 || names_.find(step->name) == nullptr) return;
    bound_ = nullptr;
    names_.erase(step->name);
    server_->guard_ = false;
  } else if (tag == "UNLISTEN") {
    const SqlStep* step = next([](SqlAction action) {
      return action == SqlAction::Listen || action == SqlAction::Unlisten || action == SqlAction::UnlistenAll;
    });
    if (step != nullptr && pending_listens_.size() < kListensMax)
      pending_listens_.push_back(ListenChange{step->action, step->name});
  }
}

void SessionTranslator::after_discard_all() {
  const bool loaded = pins_.contains(PinReason::Load);
  pins_ = {};
  if (loaded) pins_.add(PinReason::Load);
  portals_.clear();
  settings_.on_reset_all(*server_settings_);
  if (pending_listens_.size() < kListensMax)
    pending_listens_.push_back(ListenChange{SqlAction::UnlistenAll, {}});
}

// The request failed, or the server skipped it.
void SessionTranslator::undo(RequestQueue::Entry& entry) {
  if (entry.kind == RequestKind::UnnamedParse) {
    if (!requests_.contains(RequestKind::UnnamedParse)) {
      unnamed_.present = false;
      large_unnamed_ = false;
    }
    return;
  }
  if (!entry.detail) return;
  RequestDetail& detail = *entry.detail;
  switch (entry.kind) {
    case RequestKind::InjectedParse:
      if (detail.guard)
        server_->guard_ = false;
      else if (detail.statement)
        server_->erase(*detail.statement);
      else
        disown_unnamed();
      return;
    case RequestKind::InjectedClose:
      if (detail.guard)
        server_->guard_ = true;
      else if (detail.statement)
        server_->restore({detail.statement, detail.was_stale});
      else
        disown_unnamed();
      return;
    case RequestKind::NamedParse:
      server_->erase(*detail.statement);
      [[fallthrough]];
    case RequestKind::SharedParse:
      names_.erase(detail.name);
      return;
    case RequestKind::NamedClose:
      names_.insert(detail.name, {detail.statement, detail.described});
      return;
    case RequestKind::Execute:
      if (detail.names) {
        names_ = std::move(*detail.names);
        for (ServerStatements::Entry& known : detail.on_server)
          server_->restore(std::move(known));
        server_->guard_ = detail.guard;
      } else if (detail.statement) {
        names_.insert(detail.name, {detail.statement, detail.described});
        server_->guard_ = true;
      }
      return;
    case RequestKind::Plain:
    case RequestKind::Replayable:
    case RequestKind::UnnamedParse:
    case RequestKind::GuardParse:
    case RequestKind::RefusedParse:
    case RequestKind::Query:
    case RequestKind::RefusedQuery:
    case RequestKind::Function:
    case RequestKind::Sync:
    case RequestKind::CopyEnd:
      return;
  }
}

// At a ReadyForQuery: what was listened to in a transaction counts once that is committed.
void SessionTranslator::settle_listens(char status) {
  if (status != 'I') return;
  if (!pending_listens_.empty() && !rolled_back_ && !failed_)
    std::move(pending_listens_.begin(), pending_listens_.end(), std::back_inserter(listens_));
  pending_listens_.clear();
}

}  // namespace sluice::pooling
