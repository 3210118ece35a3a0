#include "admin/statement.h"

#include <charconv>
#include <span>

#include "admin/select.h"
#include "admin/session_settings.h"
#include "admin/text.h"
#include "base/nearest.h"

namespace sluice::admin {
namespace {

using Parsed = std::variant<Statement, SqlError>;
constexpr std::size_t kEchoBytesMax = 63;  // of a word that a message repeats

SqlError syntax_error(std::string message, std::string_view usage = {}) {
  return {"42601",
          std::move(message),
          {},
          usage.empty() ? "See SHOW HELP." : "Write " + std::string(usage) + "."};
}

// A statement of words, read from the front.
class Words {
 public:
  explicit Words(std::span<const Token> tokens) : rest_(tokens) {}

  bool done() const noexcept { return rest_.empty(); }
  bool next_is(std::string_view keyword) const noexcept {
    return !done() && rest_[0].kind == TokenKind::Word && same_word(rest_[0].text, keyword);
  }
  bool take(std::string_view keyword) {
    if (!next_is(keyword)) return false;
    rest_ = rest_.subspan(1);
    return true;
  }
  // A name of the configuration, quoted or not, if it is all that is left.
  std::optional<std::string> only_name() const {
    if (rest_.size() != 1 || rest_[0].kind == TokenKind::Symbol) return std::nullopt;
    return rest_[0].text;
  }
  std::span<const Token> rest() const noexcept { return rest_; }

 private:
  std::span<const Token> rest_;
};

Parsed parse_show(Words words, const SessionFacts& facts) {
  if (words.done()) return syntax_error("SHOW of what?", "SHOW HELP");
  const bool isolation = words.next_is("transaction") && words.rest().size() == 3 &&
                         same_word(words.rest()[1].text, "isolation") &&
                         same_word(words.rest()[2].text, "level");
  const std::optional<std::string> name = isolation ? "transaction_isolation" : words.only_name();
  if (!name) return syntax_error("SHOW takes one name", "SHOW POOLS");
  if (const View* view = find_view(*name)) return Statement(ShowView{view});
  if (const auto value = setting_value(*name, facts))
    return Statement(ConstantRow{{{*name, ColumnType::Text}}, {*value}, "SHOW"});
  std::vector<std::string_view> names;
  for (const View& view : all_views())
    names.push_back(view.name);
  const std::string_view near = nearest(*name, names).value_or("");
  return SqlError{
      "42704",
      "there is no SHOW " + shortened(*name, kEchoBytesMax),
      {},
      near.empty() ? "SHOW HELP lists what there is." : "Did you mean SHOW " + std::string(near) + "?"};
}

Parsed parse_set(Words words) {
  if (words.done()) return syntax_error("SET of what?");
  if (!words.take("session")) words.take("local");
  Acknowledgement done{"SET", {}};
  if (!words.done() && !is_driver_setting(words.rest()[0].text) && !words.next_is("characteristics")) {
    done.warning = "\"" + shortened(words.rest()[0].text, kEchoBytesMax) +
                   "\" was not changed: options are set in the configuration file and applied by RELOAD";
  }
  return Statement(std::move(done));
}

Parsed parse_named(CommandKind kind, std::string_view tag, std::string_view usage, Words words) {
  std::optional<std::string> name = words.only_name();
  const bool optional = kind == CommandKind::Kill && words.done();
  if (!optional && (!name || name->empty())) return syntax_error(std::string(tag) + " needs one name", usage);
  RouterCommand command;
  command.kind = kind;
  command.tag = tag;
  command.name = std::move(name);
  return Statement(std::move(command));
}

Parsed parse_kill_client(Words words) {
  RouterCommand command;
  command.kind = CommandKind::KillClient;
  command.tag = "KILL_CLIENT";
  const std::string text = words.only_name().value_or("");
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), command.id);
  if (text.empty() || error != std::errc() || end != text.data() + text.size())
    return syntax_error("KILL_CLIENT needs the id of a client", "KILL_CLIENT 7, with an id of SHOW CLIENTS");
  return Statement(std::move(command));
}

Parsed parse_shutdown(Words words) {
  RouterCommand command;
  command.kind = CommandKind::Shutdown;
  command.tag = "SHUTDOWN";
  if (words.take("wait_for_clients")) command.mode = ShutdownMode::WaitForClients;
  if (words.take("wait_for_servers")) command.mode = ShutdownMode::WaitForServers;
  if (!words.done()) return syntax_error("unknown way to shut down", "SHUTDOWN WAIT_FOR_CLIENTS");
  return Statement(std::move(command));
}

Parsed parse_reload(Words words) {
  if (!words.done()) return syntax_error("RELOAD takes no argument");
  RouterCommand command;
  command.tag = "RELOAD";
  return Statement(std::move(command));
}

std::optional<TransactionCommand> parse_transaction(Words words) {
  if (words.take("begin")) return TransactionCommand::Begin;
  if (words.take("start") && words.next_is("transaction")) return TransactionCommand::Begin;
  if (words.take("commit") || words.take("end")) return TransactionCommand::Commit;
  if (words.take("abort")) return TransactionCommand::Rollback;
  if (words.take("rollback") && !words.next_is("to")) return TransactionCommand::Rollback;
  return std::nullopt;
}

// What connection pools of clients send between two users.
std::optional<Acknowledgement> parse_housekeeping(Words words) {
  if (words.take("reset")) return Acknowledgement{"RESET", {}};
  if (words.take("discard")) return Acknowledgement{words.next_is("all") ? "DISCARD ALL" : "DISCARD", {}};
  if (words.take("deallocate"))
    return Acknowledgement{words.next_is("all") ? "DEALLOCATE ALL" : "DEALLOCATE", {}};
  if (words.take("close"))
    return Acknowledgement{words.next_is("all") ? "CLOSE CURSOR ALL" : "CLOSE CURSOR", {}};
  if (words.take("unlisten")) return Acknowledgement{"UNLISTEN", {}};
  return std::nullopt;
}

// Commands of PgBouncer that Sluice does not have, with what to use instead.
std::optional<SqlError> pgbouncer_only(const Words& words) {
  constexpr std::pair<std::string_view, std::string_view> kCommands[] = {
      {"pause", "DRAIN takes a replica out of use, SHUTDOWN WAIT_FOR_CLIENTS the router."},
      {"resume", "UNDRAIN takes a replica back into use."},
      {"suspend", "SHUTDOWN WAIT_FOR_CLIENTS lets sessions end."},
      {"reconnect", "DRAIN and UNDRAIN a replica to move its sessions."},
      {"wait_close", "SHOW SERVERS lists the server connections."},
      {"enable", "Databases are named in the configuration file; then RELOAD."},
      {"disable", "Databases are named in the configuration file; then RELOAD."}};
  for (const auto& [name, hint] : kCommands)
    if (words.next_is(name))
      return SqlError{"0A000", "Sluice has no " + words.rest()[0].text, {}, std::string(hint)};
  return std::nullopt;
}

SqlError unknown_command(const Token& first) {
  constexpr std::string_view kVerbs[] = {"SHOW",        "DRAIN",  "UNDRAIN", "KILL",
                                         "KILL_CLIENT", "RELOAD", "SHUTDOWN"};
  const std::string_view near = nearest(first.text, kVerbs).value_or("");
  return {"42601",
          "the console does not understand \"" + shortened(first.text, kEchoBytesMax) + "\"",
          {},
          near.empty() ? "SHOW HELP lists what it understands." : "Did you mean " + std::string(near) + "?"};
}

template <class T>
Parsed widen(std::variant<T, SqlError> parsed) {
  if (auto* error = std::get_if<SqlError>(&parsed)) return std::move(*error);
  return Statement(std::move(std::get<T>(parsed)));
}

Parsed parse_statement(const Tokens& tokens, const SessionFacts& facts) {
  Words words(tokens);
  if (words.take("show")) return parse_show(words, facts);
  if (words.take("select")) return widen(parse_select(tokens, facts));
  if (words.take("set")) return parse_set(words);
  if (words.take("drain")) return parse_named(CommandKind::Drain, "DRAIN", "DRAIN replica", words);
  if (words.take("undrain")) return parse_named(CommandKind::Undrain, "UNDRAIN", "UNDRAIN replica", words);
  if (words.take("kill")) return parse_named(CommandKind::Kill, "KILL", "KILL database", words);
  if (words.take("kill_client")) return parse_kill_client(words);
  if (words.take("reload")) return parse_reload(words);
  if (words.take("shutdown")) return parse_shutdown(words);
  if (const auto transaction = parse_transaction(words)) return Statement(*transaction);
  if (auto housekeeping = parse_housekeeping(words)) return Statement(std::move(*housekeeping));
  if (auto error = pgbouncer_only(words)) return std::move(*error);
  return unknown_command(tokens[0]);
}

}  // namespace

std::variant<std::vector<Statement>, SqlError> parse_script(std::string_view text,
                                                            const SessionFacts& facts) {
  auto split = split_statements(text);
  if (auto* error = std::get_if<SqlError>(&split)) return std::move(*error);
  std::vector<Statement> statements;
  for (const Tokens& tokens : std::get<std::vector<Tokens>>(split)) {
    Parsed parsed = parse_statement(tokens, facts);
    if (auto* error = std::get_if<SqlError>(&parsed)) return std::move(*error);
    statements.push_back(std::move(std::get<Statement>(parsed)));
  }
  return statements;
}

}  // namespace sluice::admin
