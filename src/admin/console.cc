#include "admin/console.h"

#include <utility>

#include "admin/console_impl.h"
#include "protocol/backend_messages.h"

namespace sluice::admin {

ConsoleSession::ConsoleSession(RouterView& view, Settings settings, std::function<void()> wake)
    : impl_(std::make_shared<Impl>(view, std::move(settings), std::move(wake))) {}
ConsoleSession::~ConsoleSession() = default;

void ConsoleSession::start() {
  impl_->start();
}
void ConsoleSession::feed(ByteView bytes) {
  impl_->feed(bytes);
}
bool ConsoleSession::wants_input() const {
  return impl_->wants_input();
}
bool ConsoleSession::closed() const {
  return impl_->closed();
}
Bytes ConsoleSession::take_output() {
  return impl_->take_output();
}

using Impl = ConsoleSession::Impl;

Impl::Impl(RouterView& view, Settings settings, std::function<void()> wake)
    : view_(view),
      settings_(std::move(settings)),
      wake_(std::move(wake)),
      decoder_(static_cast<std::uint32_t>(settings_.input_bytes_max)) {}

SessionFacts Impl::facts() const {
  return {settings_.user, settings_.database, settings_.application_name, view_.version(),
          settings_.privilege};
}

void Impl::start() {
  for (const auto& [name, value] : reported_settings(facts()))
    protocol::append_parameter_status(output_, name, value);
  protocol::append_ready_for_query(output_, transaction_status_);
}

void Impl::feed(ByteView bytes) {
  if (closed_ || bytes.empty()) return;
  protocol::feed(decoder_, bytes);
  pump();
}

Bytes Impl::take_output() {
  Bytes taken = std::exchange(output_, {});
  pump();
  return taken;
}

void Impl::pump() {
  if (pumping_) return;  // the router answered inside the call: the loop below goes on with it
  pumping_ = true;
  while (!closed_ && !full() && step()) {
  }
  pumping_ = false;
}

bool Impl::step() {
  if (execution_) return advance();
  if (!simple_) return take_message();
  if (simple_->statements.empty()) {
    simple_.reset();
    protocol::append_ready_for_query(output_, transaction_status_);
    return true;
  }
  simple_->portal = Portal{};
  simple_->portal.statement = std::make_shared<const Statement>(std::move(simple_->statements.front()));
  simple_->statements.pop_front();
  run(simple_->portal, 0);
  return true;
}

void Impl::run(Portal& portal, std::uint32_t rows_max) {
  execution_.emplace();
  execution_->portal = &portal;
  execution_->rows_max = rows_max;
}

bool Impl::advance() {
  Portal& portal = *execution_->portal;
  switch (portal.stage) {
    case Portal::Stage::New:
      begin_statement();
      return true;
    case Portal::Stage::Started:
      if (!execution_->answer) return false;
      accept_answer(std::move(*execution_->answer));
      return true;
    case Portal::Stage::Rows:
      send_rows();
      return true;
    case Portal::Stage::Ended:
      if (!portal.statement) {
        append_bare(output_, 'I');
        execution_.reset();
      } else if (std::holds_alternative<RouterCommand>(*portal.statement)) {
        fail({"55000", "portal cannot be run twice", {}, {}});
      } else {
        complete();
      }
      return true;
  }
  return false;
}

void Impl::begin_statement() {
  Portal& portal = *execution_->portal;
  if (!portal.statement) {
    portal.stage = Portal::Stage::Ended;
    append_bare(output_, 'I');
    execution_.reset();
    return;
  }
  const Statement& statement = *portal.statement;
  const auto* transaction = std::get_if<TransactionCommand>(&statement);
  if (transaction_status_ == 'E' && (transaction == nullptr || *transaction == TransactionCommand::Begin)) {
    return fail(
        {"25P02", "current transaction is aborted, commands ignored until end of transaction block", {}, {}});
  }
  if (const auto denied = check_privilege(statement, settings_.privilege)) return fail(*denied);

  portal.stage = Portal::Stage::Started;
  execution_->ticket = ++tickets_;
  const bool asked =
      ask_router(view_, statement, [self = weak_from_this(), ticket = tickets_](RouterAnswer answer) {
        if (const auto alive = self.lock()) alive->on_router_answer(ticket, std::move(answer));
      });
  if (asked) return;
  if (std::holds_alternative<ShowView>(statement)) return accept_answer(Snapshot{});
  if (const auto* constant = std::get_if<ConstantRow>(&statement)) {
    portal.rows.push_back(constant->row);
    portal.tag = constant->tag;
    if (simple_) describe(&statement, portal.formats);
    portal.stage = Portal::Stage::Rows;
    return;
  }
  if (const auto* acknowledged = std::get_if<Acknowledgement>(&statement)) {
    portal.tag = acknowledged->tag;
  } else if (transaction != nullptr) {
    change_transaction(*transaction);
  }
  complete();
}

void Impl::on_router_answer(std::uint64_t ticket, RouterAnswer answer) {
  if (!execution_ || execution_->ticket != ticket || execution_->answer) return;
  execution_->answer = std::move(answer);
  if (pumping_) return;
  pump();
  if (wake_) wake_();
}

void Impl::accept_answer(RouterAnswer answer) {
  Portal& portal = *execution_->portal;
  const Statement& statement = *portal.statement;
  if (const auto* snapshot = std::get_if<Snapshot>(&answer)) {
    portal.rows = std::get<ShowView>(statement).view->rows(*snapshot, {view_.now(), view_.version()});
    portal.tag = "SHOW";
    if (simple_) describe(&statement, portal.formats);
    portal.stage = Portal::Stage::Rows;
    return;
  }
  const CommandResult& result = std::get<CommandResult>(answer);
  if (!result.ok()) return fail({result.sqlstate, result.message, result.detail, result.hint});
  for (const std::string& note : result.notes)
    append_report(output_, 'N', "NOTICE", {"00000", note, {}, {}});
  portal.tag = std::get<RouterCommand>(statement).tag;
  complete();
}

void Impl::change_transaction(TransactionCommand command) {
  const bool inside = transaction_status_ != 'I';
  const auto warn = [this](std::string_view sqlstate, std::string_view message) {
    append_report(output_, 'N', "WARNING", {std::string(sqlstate), std::string(message), {}, {}});
  };
  if (command == TransactionCommand::Begin) {
    if (inside) warn("25001", "there is already a transaction in progress");
    transaction_status_ = 'T';
    execution_->portal->tag = "BEGIN";
    return;
  }
  if (!inside) warn("25P01", "there is no transaction in progress");
  const bool commit = command == TransactionCommand::Commit && transaction_status_ != 'E';
  execution_->portal->tag = commit ? "COMMIT" : "ROLLBACK";
  transaction_status_ = 'I';
}

void Impl::send_rows() {
  Portal& portal = *execution_->portal;
  while (!full() && portal.rows_sent < portal.rows.size()) {
    if (execution_->rows_max != 0 && execution_->rows_sent == execution_->rows_max) {
      append_bare(output_, 's');
      execution_.reset();
      return;
    }
    append_data_row(output_, portal.rows[portal.rows_sent], portal.formats);
    portal.rows[portal.rows_sent] = {};  // given back as they go
    ++portal.rows_sent;
    ++execution_->rows_sent;
  }
  if (portal.rows_sent == portal.rows.size()) complete();
}

void Impl::complete() {
  Portal& portal = *execution_->portal;
  portal.stage = Portal::Stage::Ended;
  portal.rows = {};
  protocol::append_command_complete(output_, portal.tag);
  execution_.reset();
}

void Impl::fail(const SqlError& error) {
  append_report(output_, 'E', "ERROR", error);
  if (transaction_status_ == 'T') transaction_status_ = 'E';
  if (execution_) execution_->portal->stage = Portal::Stage::Ended;
  execution_.reset();
  if (simple_) {
    simple_->statements.clear();
  } else {
    skipping_to_sync_ = true;
  }
}

void Impl::die(const SqlError& error) {
  append_report(output_, 'E', "FATAL", error);
  execution_.reset();
  simple_.reset();
  closed_ = true;
}

}  // namespace sluice::admin
