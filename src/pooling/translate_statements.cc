// Parse, Bind, Describe, Close and Execute: what the server gets in their place.
#include <algorithm>
#include <utility>

#include "pooling/router_names.h"
#include "pooling/session_translator.h"
#include "pooling/sql_classifier.h"

namespace sluice::pooling {
namespace {

RequestQueue::Detail detail_of(std::string_view name, StatementPtr statement) {
  auto detail = std::make_unique<RequestDetail>();
  detail->name = name;
  detail->statement = std::move(statement);
  return detail;
}

RequestQueue::Detail detail_of_guard(std::string_view name) {
  auto detail = detail_of(name, nullptr);
  detail->guard = true;
  return detail;
}

// Text, count of types, types, and nothing else.
bool well_formed(ByteView body) noexcept {
  ByteReader in(body);
  if (!in.cstring()) return false;
  const auto count = in.u16();
  return count && in.remaining() == std::size_t{*count} * 4;
}

std::string_view sql_of(ByteView body) noexcept {
  const std::string_view text = as_text(body);
  return text.substr(0, text.find('\0'));
}

constexpr std::string_view kEmptyBody("\0\0\0", 3);  // an empty text without parameters

}  // namespace

std::uint32_t SessionTranslator::scope() {
  if (scope_of_ != settings_.wanted()) {
    scope_of_ = settings_.wanted();
    scope_ = store_.scope(settings_.parse_scope());
  }
  return scope_;
}

bool SessionTranslator::on_parse(const Message& message, Pieces& out) {
  ByteReader in(message.body);
  const auto name = in.cstring();
  if (name && (!message.whole() || message.body_bytes > options_.statement_bytes_max))
    return on_large_parse(message, *name, PinReason::LargeStatement, out);
  if (!name || !well_formed(in.rest())) {  // the server refuses it before it looks at the name
    send(message, out);
    push_plain();
    return true;
  }
  return name->empty() ? on_unnamed_parse(message, in.rest(), out)
                       : on_named_parse(message, *name, in.rest(), out);
}

bool SessionTranslator::on_unnamed_parse(const Message& message, ByteView body, Pieces& out) {
  const std::string_view sql = sql_of(body);
  std::string_view replaced_by;
  SqlFacts facts;
  if (!surely_ordinary(sql)) [[unlikely]] {
    facts = classify(sql, settings_.backslash());
    if (const auto reason = refusal(facts)) {
      ++counts_.client_parses;
      unnamed_gone();
      disown_unnamed();
      refuse(RequestKind::RefusedParse, {Refusal::Pin, *reason}, kRefusedSql, out);
      return true;
    }
    if (requests_.earlier_special()) return false;
    replaced_by = replacement(facts);
  }
  ++counts_.client_parses;
  unnamed_.present = true;
  unnamed_.facts = std::move(facts);
  unnamed_replaced_ = !replaced_by.empty();
  if (unnamed_replaced_) {
    unnamed_.body.clear();
    ByteWriter writer(unnamed_.body);
    writer.cstring(replaced_by);
    writer.bytes(body.subspan(sql.size() + 1));
    send_parse("", unnamed_.body, out);
  } else {
    unnamed_.body.assign(body.begin(), body.end());
    ++counts_.server_parses;
    send(message, out);
  }
  large_unnamed_ = false;
  ++unnamed_version_;
  claim_unnamed();
  push_unnamed_parse();
  return true;
}

bool SessionTranslator::on_named_parse(const Message& message, std::string_view name, ByteView body,
                                       Pieces& out) {
  if (requests_.owes_ready()) return false;
  if (names_.find(name) == nullptr && (names_.size() >= options_.client_statements_max ||
                                       names_.bytes() + body.size() > options_.client_statement_bytes_max))
    return on_large_parse(message, name, PinReason::ManyStatements, out);
  ++counts_.client_parses;
  if (names_.find(name) != nullptr) {
    provide_guard(out);
    ++counts_.server_parses;
    send_renamed(message, name, kGuardName, out);
    push(RequestKind::GuardParse, detail_of_guard(name));
    return true;
  }
  const StatementPtr statement = store_.intern(body, scope(), settings_.backslash());
  if (const auto reason = refusal(statement->facts())) {
    refuse(RequestKind::RefusedParse, {Refusal::Pin, *reason}, kRefusedSql, out);
    return true;
  }
  // In a failed transaction only the server knows which texts it still parses.
  if (status_ != 'E' && server_->touch(*statement)) {
    send_close(kNobodyName, out);
    push(RequestKind::SharedParse, detail_of(name, statement));
  } else {
    make_room(statement, out);
    ++counts_.server_parses;
    send_renamed(message, name, statement->name(), out);
    server_->insert(statement);
    push(RequestKind::NamedParse, detail_of(name, statement));
  }
  names_.insert(std::string(name), ClientNames::Entry{statement});
  return true;
}

bool SessionTranslator::on_large_parse(const Message& message, std::string_view name, PinReason reason,
                                       Pieces& out) {
  const std::size_t text_at = name.size() + 1;
  SqlFacts facts = classify(sql_of(message.body.subspan(text_at)), settings_.backslash());
  facts.truncated = true;
  if (name.empty()) {
    ++counts_.client_parses;
    ++counts_.server_parses;
    note_notify(sql_of(message.body.subspan(text_at)));
    apply(facts, false);
    send(message, out);
    unnamed_gone();
    large_unnamed_ = true;
    push_unnamed_parse();
    return true;
  }
  if (requests_.owes_ready()) return false;
  ++counts_.client_parses;
  if (options_.on_pin == TranslatorOptions::OnPin::Refuse) {
    refuse(RequestKind::RefusedParse, {Refusal::Pin, reason}, kRefusedSql, out);
    body_ = Body::Drop;
    return true;
  }
  ++counts_.server_parses;
  if (names_.find(name) != nullptr) {
    provide_guard(out);
    send_renamed(message, name, kGuardName, out);
    push(RequestKind::GuardParse, detail_of_guard(name));
    return true;
  }
  pins_.add(reason);
  apply(facts, false);
  return send_foreign(message, name, out);
}

// A name that is none of the client's statements that we know.
bool SessionTranslator::send_foreign(const Message& message, std::string_view name, Pieces& out) {
  if (name.starts_with(kNamePrefix))
    send_renamed(message, name, foreign_name(name), out);
  else
    send(message, out);
  push_plain();
  return true;
}

bool SessionTranslator::on_bind(const Message& message, Pieces& out) {
  ByteReader in(message.body);
  const auto portal = in.cstring();
  const auto name = in.cstring();
  if (!name) {  // malformed, or a name that no statement of ours has
    ++counts_.binds;
    send(message, out);
    push_plain();
    return true;
  }
  if (name->empty()) {
    if (!unnamed_on_server_ && !provide_unnamed(StandInFor::Bind, out)) return false;
    large_unnamed_ = false;
    bound_ = nullptr;
    if (!portals_.empty()) drop_portal(*portal);
    if (unnamed_.present) note_notify(sql_of(unnamed_.body));
    if (unnamed_.present && !unnamed_.facts.ordinary()) [[unlikely]] {
      apply(unnamed_.facts, unnamed_replaced_);
      add_portal(*portal, unnamed_.facts, unnamed_replaced_);
    } else if (watches_transaction_ && unnamed_.present) {
      watch_portal(*portal, unnamed_.body);
    }
    ++counts_.binds;
    send(message, out);
    push_plain();
    return true;
  }
  if (requests_.earlier_special()) return false;
  ClientNames::Entry* entry = names_.find(*name);
  if (entry != nullptr && !provide(entry->statement, StandInFor::Bind, out)) return false;
  ++counts_.binds;
  bound_ = entry;
  if (!portals_.empty()) drop_portal(*portal);
  if (entry == nullptr) return send_foreign(message, *name, out);
  note_notify(entry->statement->sql());
  if (!entry->statement->facts().ordinary()) [[unlikely]] {
    apply(entry->statement->facts(), false);
    add_portal(*portal, entry->statement->facts(), false);
  } else if (watches_transaction_) {
    watch_portal(*portal, entry->statement->body());
  }
  const bool first = begin_recording(*entry->statement, entry->described);
  send_renamed(message, *name, entry->statement->name(), out);
  push_use(first ? RequestKind::Replayable : RequestKind::Plain, *name, *entry->statement);
  return true;
}

bool SessionTranslator::on_describe(const Message& message, Pieces& out) {
  const bool of_statement = !message.body.empty() && message.body[0] == std::byte{'S'};
  ByteReader in(message.body.subspan(message.body.empty() ? 0 : 1));
  const auto name = in.cstring();
  if (!name || !of_statement) {
    if (bound_ != nullptr) bound_->described = true;
    replay_describes_ = true;
    send(message, out);
    push_plain();
    return true;
  }
  if (name->empty()) {
    if (!unnamed_on_server_ && !provide_unnamed(StandInFor::Describe, out)) return false;
    send(message, out);
    push_plain();
    return true;
  }
  if (requests_.earlier_special()) return false;
  ClientNames::Entry* entry = names_.find(*name);
  if (entry == nullptr) return send_foreign(message, *name, out);
  if (!provide(entry->statement, StandInFor::Describe, out)) return false;
  const bool first = begin_recording(*entry->statement, false);
  entry->described = true;
  replay_describes_ = true;
  send_renamed(message, *name, entry->statement->name(), out);
  push_use(first ? RequestKind::Replayable : RequestKind::Plain, *name, *entry->statement);
  return true;
}

bool SessionTranslator::on_close(const Message& message, Pieces& out) {
  const bool of_statement = !message.body.empty() && message.body[0] == std::byte{'S'};
  ByteReader in(message.body.subspan(message.body.empty() ? 0 : 1));
  const auto name = in.cstring();
  if (!name || !of_statement || name->empty()) {
    if (name && of_statement) unnamed_gone();
    if (name && !of_statement && !portals_.empty()) drop_portal(*name);
    send(message, out);
    requests_.push(RequestKind::Plain);
    return true;
  }
  if (requests_.earlier_special()) return false;
  ClientNames::Entry* entry = names_.find(*name);
  if (entry == nullptr) {
    if (name->starts_with(kNamePrefix))
      send_renamed(message, *name, foreign_name(*name), out);
    else
      send(message, out);
    requests_.push(RequestKind::Plain);
    return true;
  }
  if (requests_.owes_ready()) return false;
  auto detail = detail_of(*name, entry->statement);
  detail->described = entry->described;
  if (bound_ == entry) bound_ = nullptr;
  names_.erase(*name);
  send_renamed(message, *name, kNobodyName, out);
  push(RequestKind::NamedClose, std::move(detail));
  return true;
}

bool SessionTranslator::on_execute(const Message& message, Pieces& out) {
  const auto portal = portals_.empty() ? std::nullopt : ByteReader(message.body).cstring();
  const auto found = !portal ? portals_.end()
                             : std::find_if(portals_.begin(), portals_.end(),
                                            [&](const Portal& p) { return p.name == *portal; });
  if (found != portals_.end() && found->acts()) return on_execute_of_interest(message, *found, out);
  executed_ = true;
  send(message, out);
  RequestQueue::Detail detail;
  if (watches_transaction_ && found == portals_.end()) {
    detail = std::make_unique<RequestDetail>();
    detail->commits = true;
  }
  push_plain(std::move(detail));
  return true;
}

bool SessionTranslator::on_execute_of_interest(const Message& message, const Portal& portal, Pieces& out) {
  auto detail = std::make_unique<RequestDetail>();
  if (portal.transaction) {
    const TransactionStep::Kind kind = portal.transaction->kind;
    if (kind == TransactionStep::Kind::Prepare && status_ != 'E' &&
        (!pending_listens_.empty() || requests_.contains_listen())) {
      refuse(RequestKind::RefusedParse, {Refusal::PrepareTransaction}, kRefusedSql, out);
      if (!message.whole()) body_ = Body::Drop;
      return true;
    }
    executed_ = true;
    detail->commits = kind == TransactionStep::Kind::Commit;
    detail->transaction.push_back(*portal.transaction);
    send(message, out);
    push(RequestKind::Execute, std::move(detail));
    return true;
  }
  if (requests_.owes_ready()) return false;
  if (listens(portal.step.action)) {
    if (listens_sent_ >= kListensMax) {
      refuse(RequestKind::RefusedParse, {Refusal::Listens}, kRefusedSql, out);
      if (!message.whole()) body_ = Body::Drop;
      return true;
    }
    ++listens_sent_;
    begin_listen(portal.step, !executed_ && status_ == 'I' ? Listening::Alone : Listening::WithOthers);
  }
  executed_ = true;
  begin_step(portal.step, *detail, out);
  send(message, out);
  push(RequestKind::Execute, std::move(detail));
  return true;
}

// The server gets the statement if it lacks it. False: held.
bool SessionTranslator::provide(const StatementPtr& statement, StandInFor use, Pieces& out) {
  if (server_->touch(*statement)) return true;
  if (requests_.owes_ready()) return false;
  make_room(statement, out);
  const std::optional<Bytes> instead = stand_in_for(statement->body(), use);
  send_parse(statement->name(), instead ? ByteView(*instead) : statement->body(), out);
  server_->insert(statement);
  if (instead) server_->find(*statement)->stale = true;
  push(RequestKind::InjectedParse, detail_of("", statement));
  return true;
}

// Closes the statement itself where the server has it in a form not to be used, or else the one to make room
// for it.
void SessionTranslator::make_room(const StatementPtr& statement, Pieces& out) {
  StatementPtr victim;
  bool stale = false;
  if (const ServerStatements::Entry* entry = server_->find(*statement)) {
    victim = statement;
    stale = entry->stale;
    server_->erase(*statement);
  } else {
    std::optional<ServerStatements::Entry> taken = server_->take_victim();
    if (!taken) return;
    victim = std::move(taken->statement);
    stale = taken->stale;
  }
  send_close(victim->name(), out);
  auto detail = detail_of("", std::move(victim));
  detail->was_stale = stale;
  push(RequestKind::InjectedClose, std::move(detail));
}

bool SessionTranslator::provide_unnamed(StandInFor use, Pieces& out) {
  if (requests_.owes_ready()) return false;
  if (unnamed_.present) {
    const std::optional<Bytes> instead = stand_in_for(unnamed_.body, use);
    send_parse("", instead ? ByteView(*instead) : ByteView(unnamed_.body), out);
    push(RequestKind::InjectedParse, detail_of("", nullptr));
    if (instead) {
      disown_unnamed();
      return true;
    }
  } else {  // that of another client must not be found
    send_close("", out);
    push(RequestKind::InjectedClose, detail_of("", nullptr));
  }
  claim_unnamed();
  return true;
}

// Only where the block has failed for sure: an Execute of this batch may have ended it.
std::optional<Bytes> SessionTranslator::stand_in_for(ByteView body, StandInFor use) const {
  if (!surely_failed()) return std::nullopt;
  return stand_in(body, settings_.backslash(), use);
}

void SessionTranslator::unnamed_gone() noexcept {
  unnamed_.present = false;
  large_unnamed_ = false;
  ++unnamed_version_;
  claim_unnamed();
}

void SessionTranslator::claim_unnamed() noexcept {
  unnamed_on_server_ = true;
  server_->unnamed_owner_ = session_;
  server_->unnamed_version_ = unnamed_version_;
}

void SessionTranslator::disown_unnamed() noexcept {
  unnamed_on_server_ = false;
  server_->unnamed_owner_ = 0;
}

void SessionTranslator::provide_guard(Pieces& out) {
  if (server_->guard_) return;
  send_parse(kGuardName, as_bytes(kEmptyBody), out);
  server_->guard_ = true;
  push(RequestKind::InjectedParse, detail_of_guard(""));
}

void SessionTranslator::remove_guard(Pieces& out) {
  if (!server_->guard_) return;
  send_close(kGuardName, out);
  server_->guard_ = false;
  push(RequestKind::InjectedClose, detail_of_guard(""));
}

}  // namespace sluice::pooling
