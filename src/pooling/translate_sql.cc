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
// Fails as PREPARE TRANSACTION does behind a LISTEN: the transaction is rolled back, and over. (An UNLISTEN,
// which the server got for the LISTEN, is nothing to it.) The identifier is longer than one may be.
const std::string kInsteadOfPrepare = "PREPARE TRANSACTION '" + std::string(200, '-') + "'";

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

bool commits(const TransactionStep& step) noexcept {
  return step.kind == TransactionStep::Kind::Commit;
}

// The step whose tag has come.
template <class Wanted>
const SqlStep* next_step(RequestDetail& detail, Wanted wanted) {
  while (detail.next_step < detail.steps.size()) {
    const SqlStep& step = detail.steps[detail.next_step++];
    if (wanted(step.action)) return &step;
  }
  return nullptr;
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
  note_notify(sql);
  if (message.whole() && !watches_transaction_ && surely_ordinary(sql)) [[likely]] {
    unnamed_gone();
    send(message, out);
    requests_.push(RequestKind::Query);
    replay_state_ = Replay::Unspoilt;
    return true;
  }
  SqlFacts facts = classify(sql, settings_.backslash());
  facts.truncated = facts.truncated || !message.whole();
  if (!on_query_of_interest(message, sql, facts, out)) return false;
  replay_state_ = Replay::Unspoilt;
  return true;
}

bool SessionTranslator::on_query_of_interest(const Message& message, std::string_view sql,
                                             const SqlFacts& facts, Pieces& out) {
  const bool acting = std::any_of(facts.steps.begin(), facts.steps.end(),
                                  [](const SqlStep& step) { return acts(step.action); });
  if (acting && requests_.owes_ready()) return false;
  if (const auto reason = refusal(facts))
    return refuse_query(message, {Refusal::Pin, *reason}, kRefusedSql, out);
  if (!count_listens(facts)) return refuse_query(message, {Refusal::Listens}, kRefusedSql, out);
  std::optional<std::vector<TransactionStep>> transaction(std::in_place);
  if (watches_transaction_) transaction = transaction_steps(sql, settings_.backslash());
  if (!transaction) return refuse_query(message, {Refusal::Steps}, kRefusedSql, out);
  if (std::any_of(transaction->begin(), transaction->end(),
                  [](const TransactionStep& step) { return step.kind == TransactionStep::Kind::Prepare; })) {
    if (requests_.owes_ready()) return false;
    const bool alone = facts.statement_count == 1 && message.whole();
    if (!pending_listens_.empty() || requests_.contains_listen())
      return refuse_query(message, {Refusal::PrepareTransaction},
                          alone ? std::string_view(kInsteadOfPrepare) : kRefusedSql, out);
  }
  const std::string_view replaced_by = message.whole() ? replacement(facts) : std::string_view();
  apply(facts, !replaced_by.empty());
  RequestQueue::Detail detail;
  if (acting || facts.truncated || !transaction->empty()) {
    detail = std::make_unique<RequestDetail>();
    detail->steps = facts.steps;
    detail->truncated = facts.truncated;
    detail->transaction = *std::move(transaction);
    detail->commits =
        facts.truncated || std::any_of(detail->transaction.begin(), detail->transaction.end(), commits);
  }
  if (replaced_by == kInsteadOfDeallocate) provide_guard(out);
  // By itself it is committed at once, and nothing with it.
  if (replaced_by == kInsteadOfListen && (status_ != 'I' || !requests_.empty()))
    begin_listen(facts.steps.front(), Listening::WithOthers);
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
  if (facts.large()) return PinReason::LargeQuery;
  return std::nullopt;
}

bool SessionTranslator::refuse_query(const Message& message, Refused why, std::string_view instead,
                                     Pieces& out) {
  refuse(RequestKind::RefusedQuery, why, instead, out);
  if (!message.whole()) body_ = Body::Drop;
  return true;
}

// A text that no server can parse, or a better one, stands for what is refused, so that the error comes in
// its place and the server skips, or fails the transaction, as with any other. The name is nobody's, so that
// nothing is lost by it.
void SessionTranslator::refuse(RequestKind kind, Refused why, std::string_view instead, Pieces& out) {
  auto detail = std::make_unique<RequestDetail>();
  detail->refusal = why.refusal;
  detail->reason = why.reason;
  if (kind == RequestKind::RefusedParse) {
    Bytes body;
    ByteWriter writer(body);
    writer.cstring(instead);
    writer.u16(0);
    send_parse(kNobodyName, body, out);
  } else {
    unnamed_gone();
    append_query(out.own(), instead);
    out.own_done();
  }
  push(kind, std::move(detail));
}

void SessionTranslator::begin_listen(const SqlStep& step, Listening listening) {
  if (step.action != SqlAction::Listen || surely_failed()) return;
  listens_in_doubt_ = listens_in_doubt_ || executed_;
  begun_.push_back(step.name);
  listens_begun_ = true;
  listening_ = listening;
  // Also of what it has sent before the LISTEN.
  if (listening == Listening::WithOthers) notified_ = true;
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
  if (facts.large()) pins_.add(PinReason::LargeQuery);
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

void SessionTranslator::note_notify(std::string_view sql) noexcept {
  if (watches_notify_ && !notified_) notified_ = mentions_notify(sql);
}

// False: there are too many in this transaction.
bool SessionTranslator::count_listens(const SqlFacts& facts) {
  const auto more = static_cast<std::size_t>(std::count_if(
      facts.steps.begin(), facts.steps.end(), [](const SqlStep& step) { return listens(step.action); }));
  if (more == 0) return true;
  if (listens_sent_ + more > kListensMax) return false;
  listens_sent_ += more;
  watches_transaction_ = true;
  return true;
}

void SessionTranslator::drop_portal(std::string_view name) {
  std::erase_if(portals_, [&](const Portal& portal) { return portal.name == name; });
}

void SessionTranslator::add_portal(std::string_view name, const SqlFacts& facts, bool replaced) {
  const SqlStep* step = facts.only_step();
  if (step == nullptr || !acts(step->action) || portals_.size() >= kPortalsMax) return;
  if (!replaced && (step->action == SqlAction::Listen || step->action == SqlAction::Deallocate)) return;
  if (listens(step->action)) watches_transaction_ = true;
  portals_.push_back(Portal{std::string(name), *step});
}

// Of a statement that is none of the router's business but for what it does to LISTENs.
void SessionTranslator::watch_portal(std::string_view name, ByteView body) {
  if (portals_.size() >= kPortalsMax) return;
  const std::string_view text = as_text(body);
  auto steps = transaction_steps(text.substr(0, text.find('\0')), settings_.backslash());
  if (!steps || steps->size() > 1) return;
  if (!steps->empty())
    portals_.push_back(Portal{std::string(name), {}, std::move(steps->front())});
  else if (portals_.size() < kPortalsMax / 2)  // the others' places are for those that act
    portals_.push_back(Portal{std::string(name), {}});
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
  if (watches_transaction_) on_transaction_tag(tag, detail);
  if (detail != nullptr && detail->truncated && ++detail->completions > 1) pins_.add(PinReason::LargeQuery);
  if (tag == "LISTEN") pins_.add(PinReason::Listen);
  const bool all = tag == "DISCARD ALL";
  if (all || tag == "DEALLOCATE ALL") {
    if (!begun) forget_all_names();
    if (all) after_discard_all();
    return;
  }
  if (detail == nullptr) return;
  if (tag == "DEALLOCATE" && !begun) {
    const SqlStep* step =
        next_step(*detail, [](SqlAction action) { return action == SqlAction::Deallocate; });
    if (step == nullptr || detail->steps.size() != 1 || names_.find(step->name) == nullptr) return;
    bound_ = nullptr;
    names_.erase(step->name);
    server_->guard_ = false;
  } else if (tag == "LISTEN" || tag == "UNLISTEN") {
    on_listen_tag(tag, *detail);
  }
}

// A LISTEN that is answered as such was the server's own.
void SessionTranslator::on_listen_tag(std::string_view tag, RequestDetail& detail) {
  const bool own = tag == "LISTEN";
  const bool replaced = !own && detail.steps.size() == 1 && detail.steps[0].action == SqlAction::Listen;
  const SqlStep* step = next_step(detail, [&](SqlAction action) {
    return own || replaced ? action == SqlAction::Listen
                           : action == SqlAction::Unlisten || action == SqlAction::UnlistenAll;
  });
  if (step != nullptr && !own && pending_listens_.size() < kListensMax)
    pending_listens_.add(ListenChange{step->action, step->name});
}

// The step whose tag it is: what only looks like one has none, and is passed over.
const TransactionStep* SessionTranslator::step_of(std::string_view tag, RequestDetail* detail) {
  if (detail == nullptr) return nullptr;
  const std::vector<TransactionStep>& all = detail->transaction;
  const auto found =
      std::find_if(all.begin() + static_cast<std::ptrdiff_t>(detail->next_transaction), all.end(),
                   [tag](const TransactionStep& step) { return answers(tag, step.kind); });
  if (found == all.end()) return nullptr;
  detail->next_transaction = static_cast<std::size_t>(found - all.begin()) + 1;
  return &*found;
}

void SessionTranslator::on_transaction_tag(std::string_view tag, RequestDetail* detail) {
  using Kind = TransactionStep::Kind;
  const TransactionStep* const step = step_of(tag, detail);
  if (tag == "COMMIT") return pending_listens_.commit(listens_);
  if (tag == "PREPARE TRANSACTION") return pending_listens_.rollback();
  if (tag == "ROLLBACK" && (step == nullptr || step->kind != Kind::RollbackTo))
    return pending_listens_.rollback();
  if (step == nullptr) return;
  if (step->kind == Kind::RollbackTo) return pending_listens_.rollback_to(step->name);
  if (step->kind == Kind::Savepoint) return pending_listens_.savepoint(step->name);
  if (step->kind == Kind::Release) pending_listens_.release(step->name);
}

void SessionTranslator::after_discard_all() {
  const bool loaded = pins_.contains(PinReason::Load);
  pins_ = {};
  if (loaded) pins_.add(PinReason::Load);
  portals_.clear();
  settings_.on_reset_all(*server_settings_);
  pending_listens_.rollback();  // it was committed by itself, and ends them all
  pending_listens_.add(ListenChange{SqlAction::UnlistenAll, {}});
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
    case RequestKind::InjectedSync:
    case RequestKind::Sync:
    case RequestKind::CopyEnd:
      return;
  }
}

// At a ReadyForQuery: what was listened to in a transaction counts once that is committed.
void SessionTranslator::settle_listens(char status) {
  if (listens_in_doubt_ && !requests_.contains_listen()) listens_in_doubt_ = false;
  if (status != 'I') return;
  failed_ ? pending_listens_.rollback() : pending_listens_.commit(listens_);
  if (!watches_transaction_ || requests_.contains_listen()) return;
  // What the client has sent ahead is of other transactions. Of a LISTEN that is at most the Bind.
  watches_transaction_ =
      !requests_.empty() &&
      std::any_of(portals_.begin(), portals_.end(), [](const Portal& p) { return listens(p.step.action); });
  listens_sent_ = 0;
  if (std::exchange(listens_begun_, false)) listens_over_ = true;
}

// Outside of a block each request may commit what was before it: a CALL, a Query, the Sync; and once one is
// answered nobody knows whether it did before the batch is over. In a block only COMMIT does. What is
// executed of a portal that was bound before anybody looked may be one.
bool SessionTranslator::commit_in_flight() const noexcept {
  if (requests_.empty()) return status_ == 'I' && executed_ && listens_begun_;
  return status_ == 'I' || listens_in_doubt_ || requests_.contains_commit();
}

}  // namespace sluice::pooling
