#include <utility>

#include "admin/console_impl.h"
#include "admin/text.h"
#include "protocol/backend_messages.h"
#include "protocol/protocol_error.h"

// What each frontend message does: the PostgreSQL manual, "Message Flow".
namespace sluice::admin {

using Impl = ConsoleSession::Impl;

namespace {

constexpr std::size_t kPreparedMax = 1000;
constexpr std::size_t kPreparedBytesMax = std::size_t{4} << 20;  // of their sources together
constexpr std::size_t kPortalsMax = 16;
constexpr std::size_t kNameBytesMax = 63;

std::string quoted(std::string_view name) {
  return '"' + shortened(name, kNameBytesMax) + '"';
}
SqlError no_statement(std::string_view name) {
  return {"26000", "prepared statement " + quoted(name) + " does not exist", {}, {}};
}
SqlError no_portal(std::string_view name) {
  return {"34000", "portal " + quoted(name) + " does not exist", {}, {}};
}

}  // namespace

bool Impl::take_message() {
  const auto next = decoder_.next();
  if (!next) {
    const bool too_long = next.error().code == protocol::ProtocolErrc::MessageTooLong;
    die(too_long ? SqlError{"54000",
                            "message is too long for the console",
                            {},
                            "At most " + std::to_string(settings_.input_bytes_max) + " bytes."}
                 : SqlError{"08P01", "invalid message length", {}, {}});
    return false;
  }
  if (!*next) return false;
  on_message(**next);
  return true;
}

void Impl::on_message(const protocol::Frame& message) {
  if (message.type == 'X') {
    closed_ = true;
    return;
  }
  if (skipping_to_sync_ && message.type != 'S') return;  // after an error everything is skipped until Sync
  switch (message.type) {
    case 'Q':
      return on_query(message.body);
    case 'P':
      return on_parse(message.body);
    case 'B':
      return on_bind(message.body);
    case 'D':
      return on_describe(message.body);
    case 'E':
      return on_execute(message.body);
    case 'C':
      return on_close(message.body);
    case 'S':
      return on_sync();
    case 'H':
      return;  // Flush: nothing is held back
    case 'd':
    case 'c':
    case 'f':
      return;  // left over from a COPY that never began: ignored, as by PostgreSQL
    case 'F':
      simple_.emplace();
      return fail({"0A000", "the console has no functions to call", {}, {}});
    default:
      return die({"08P01",
                  "invalid frontend message type " + std::to_string(static_cast<unsigned char>(message.type)),
                  {},
                  {}});
  }
}

void Impl::on_query(ByteView body) {
  statements_.erase("");
  portals_.erase("");
  simple_.emplace();  // from here on errors end in ReadyForQuery
  const auto text = read_query(body);
  if (const auto* error = std::get_if<SqlError>(&text)) return fail(*error);
  auto script = parse_script(std::get<std::string_view>(text), facts());
  if (const auto* error = std::get_if<SqlError>(&script)) return fail(*error);
  auto& statements = std::get<std::vector<Statement>>(script);
  if (statements.empty()) append_bare(output_, 'I');
  simple_->statements.assign(std::make_move_iterator(statements.begin()),
                             std::make_move_iterator(statements.end()));
}

void Impl::on_parse(ByteView body) {
  const auto message = read_parse(body);
  if (const auto* error = std::get_if<SqlError>(&message)) return fail(*error);
  const auto& [name, query] = std::get<ParseMessage>(message);
  if (!name.empty() && statements_.contains(name))
    return fail({"42P05", "prepared statement " + quoted(name) + " already exists", {}, {}});
  auto script = parse_script(query, facts());
  if (const auto* error = std::get_if<SqlError>(&script)) return fail(*error);
  auto& parsed = std::get<std::vector<Statement>>(script);
  if (parsed.size() > 1)
    return fail({"42601", "cannot insert multiple commands into a prepared statement", {}, {}});

  if (name.empty()) statements_.erase("");
  std::size_t bytes = name.size() + query.size();
  const Prepared prepared{parsed.empty() ? nullptr : std::make_shared<const Statement>(std::move(parsed[0])),
                          bytes};
  for (const auto& [other, statement] : statements_)
    bytes += statement.source_bytes;
  if (statements_.size() == kPreparedMax || bytes > kPreparedBytesMax)
    return fail({"54000", "too many prepared statements", {}, "Close those that are not used any more."});
  statements_.emplace(name, prepared);
  append_bare(output_, '1');
}

void Impl::on_bind(ByteView body) {
  auto message = read_bind(body);
  if (const auto* error = std::get_if<SqlError>(&message)) return fail(*error);
  auto& bind = std::get<BindMessage>(message);
  const auto prepared = statements_.find(bind.statement);
  if (prepared == statements_.end()) return fail(no_statement(bind.statement));
  if (bind.parameter_count != 0) {
    return fail({"08P01",
                 "bind message supplies " + std::to_string(bind.parameter_count) +
                     " parameters, but commands of the console take none",
                 {},
                 {}});
  }
  const auto& statement = prepared->second.statement;
  const std::size_t columns = statement ? result_columns(*statement).size() : 0;
  if (bind.result_formats.size() > 1 && bind.result_formats.size() != columns) {
    return fail({"08P01",
                 "bind message has " + std::to_string(bind.result_formats.size()) +
                     " result formats but query has " + std::to_string(columns) + " columns",
                 {},
                 {}});
  }
  if (bind.portal.empty()) portals_.erase("");
  if (portals_.contains(bind.portal))
    return fail({"42P03", "cursor " + quoted(bind.portal) + " already exists", {}, {}});
  if (portals_.size() == kPortalsMax) return fail({"54000", "too many open portals", {}, {}});
  Portal& portal = portals_.emplace(bind.portal, Portal{}).first->second;
  portal.statement = statement;
  portal.formats = Formats(std::move(bind.result_formats));
  append_bare(output_, '2');
}

void Impl::describe(const Statement* statement, const Formats& formats) {
  const auto columns = statement != nullptr ? result_columns(*statement) : std::vector<ResultColumn>{};
  if (columns.empty()) {
    append_bare(output_, 'n');
  } else {
    append_row_description(output_, columns, formats);
  }
}

void Impl::on_describe(ByteView body) {
  const auto message = read_named(body);
  if (const auto* error = std::get_if<SqlError>(&message)) return fail(*error);
  const auto& [kind, name] = std::get<NamedMessage>(message);
  if (kind == 'S') {
    const auto prepared = statements_.find(name);
    if (prepared == statements_.end()) return fail(no_statement(name));
    append_no_parameters(output_);
    return describe(prepared->second.statement.get(), Formats());
  }
  const auto portal = portals_.find(name);
  if (portal == portals_.end()) return fail(no_portal(name));
  describe(portal->second.statement.get(), portal->second.formats);
}

void Impl::on_execute(ByteView body) {
  const auto message = read_execute(body);
  if (const auto* error = std::get_if<SqlError>(&message)) return fail(*error);
  const auto& execute = std::get<ExecuteMessage>(message);
  const auto portal = portals_.find(execute.portal);
  if (portal == portals_.end()) return fail(no_portal(execute.portal));
  run(portal->second, execute.rows_max);
}

void Impl::on_close(ByteView body) {
  const auto message = read_named(body);
  if (const auto* error = std::get_if<SqlError>(&message)) return fail(*error);
  const auto& [kind, name] = std::get<NamedMessage>(message);
  if (kind == 'S') {
    if (const auto found = statements_.find(name); found != statements_.end()) statements_.erase(found);
  } else {
    if (const auto found = portals_.find(name); found != portals_.end()) portals_.erase(found);
  }
  append_bare(output_, '3');
}

void Impl::on_sync() {
  skipping_to_sync_ = false;
  if (transaction_status_ == 'I') portals_.clear();  // portals end with their transaction
  protocol::append_ready_for_query(output_, transaction_status_);
}

}  // namespace sluice::admin
