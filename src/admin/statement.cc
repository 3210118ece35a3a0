#include "admin/statement.h"

#include <span>

#include "admin/select.h"
#include "admin/session_settings.h"
#include "admin/text.h"
#include "base/nearest.h"
#include "base/text.h"

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
  std::optional<std::string> take_name() {
    if (done() || rest_[0].kind == TokenKind::Symbol) return std::nullopt;
    std::string name = rest_[0].text;
    rest_ = rest_.subspan(1);
    return name;
  }
  bool take_symbol(char symbol) {
    if (done() || rest_[0].kind != TokenKind::Symbol || rest_[0].text[0] != symbol) return false;
    rest_ = rest_.subspan(1);
    return true;
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
  if (words.done() || is_driver_setting(words.rest()[0].text) || words.next_is("characteristics"))
    return Statement(Acknowledgement{"SET"});
  const std::optional<std::string> key = words.take_name();
  const bool assigned = words.take_symbol('=') || words.take("to");
  const std::optional<std::string> value = words.only_name();
  if (!key || !assigned || !value)
    return syntax_error("SET takes one option and one value", "SET option = 'value'");
  RouterCommand command;
  command.kind = CommandKind::Set;
  command.tag = "SET";
  command.name = *key;
  command.value = *value;
  return Statement(std::move(command));
}

enum class Name { Required, Optional };

Parsed parse_named(CommandKind kind, std::string_view tag, std::string_view usage, Words words,
                   Name presence = Name::Required) {
  std::optional<std::string> name = words.only_name();
  const bool optional = presence == Name::Optional && words.done();
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
  const auto id = to_number<decltype(command.id)>(words.only_name().value_or(""));
  if (!id)
    return syntax_error("KILL_CLIENT needs the id of a client", "KILL_CLIENT 7, with an id of SHOW CLIENTS");
  command.id = *id;
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
  if (words.take("reset")) return Acknowledgement{"RESET"};
  if (words.take("discard")) return Acknowledgement{words.next_is("all") ? "DISCARD ALL" : "DISCARD"};
  if (words.take("deallocate"))
    return Acknowledgement{words.next_is("all") ? "DEALLOCATE ALL" : "DEALLOCATE"};
  if (words.take("close")) return Acknowledgement{words.next_is("all") ? "CLOSE CURSOR ALL" : "CLOSE CURSOR"};
  if (words.take("unlisten")) return Acknowledgement{"UNLISTEN"};
  return std::nullopt;
}

// A command of PgBouncer's that Sluice does not have: it freezes clients while another process takes them
// over.
std::optional<SqlError> pgbouncer_only(const Words& words) {
  if (!words.next_is("suspend")) return std::nullopt;
  return SqlError{"0A000",
                  "Sluice has no SUSPEND",
                  {},
                  "PAUSE holds sessions back, SHUTDOWN WAIT_FOR_CLIENTS lets them end."};
}

SqlError unknown_command(const Token& first) {
  constexpr std::string_view kVerbs[] = {"SHOW",        "DRAIN",  "UNDRAIN",   "PAUSE",      "RESUME",
                                         "DISABLE",     "ENABLE", "RECONNECT", "WAIT_CLOSE", "KILL",
                                         "KILL_CLIENT", "SET",    "RELOAD",    "SHUTDOWN"};
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
  struct Named {
    std::string_view keyword;
    CommandKind kind;
    std::string_view tag, usage;
    Name presence;
  };
  constexpr Named kNamed[] = {
      {"drain", CommandKind::Drain, "DRAIN", "DRAIN replica", Name::Required},
      {"undrain", CommandKind::Undrain, "UNDRAIN", "UNDRAIN replica", Name::Required},
      {"pause", CommandKind::Pause, "PAUSE", "PAUSE, or PAUSE database", Name::Optional},
      {"resume", CommandKind::Resume, "RESUME", "RESUME, or RESUME database", Name::Optional},
      {"disable", CommandKind::Disable, "DISABLE", "DISABLE database", Name::Required},
      {"enable", CommandKind::Enable, "ENABLE", "ENABLE database", Name::Required},
      {"reconnect", CommandKind::Reconnect, "RECONNECT", "RECONNECT, or RECONNECT database", Name::Optional},
      {"wait_close", CommandKind::WaitClose, "WAIT_CLOSE", "WAIT_CLOSE, or WAIT_CLOSE database",
       Name::Optional},
      {"kill", CommandKind::Kill, "KILL", "KILL, or KILL database", Name::Optional},
  };
  for (const Named& named : kNamed)
    if (words.take(named.keyword))
      return parse_named(named.kind, named.tag, named.usage, words, named.presence);
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
