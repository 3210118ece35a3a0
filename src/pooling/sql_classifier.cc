#include "pooling/sql_classifier.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/text.h"

namespace sluice::pooling {
namespace {

// Words of a statement that are kept to tell its kind; of the rest only calls and INTO are looked at.
constexpr std::size_t kClassifiedTokens = 24;
// DO blocks within one another.
constexpr int kBlocksMax = 3;

constexpr std::string_view kSearchPath = "search_path";
constexpr std::string_view kTemporarySchema = "pg_temp";

// Of ASCII and not too long, so that it is a name in each encoding, and itself.
bool plain_name(const SqlToken& token) {
  constexpr std::size_t kBytesMax = 63;
  const bool quoted = token.kind == SqlTokenKind::Name && token.text.size() > 2 &&
                      token.text.front() == '"' && token.text.back() == '"';
  if ((token.kind != SqlTokenKind::Word && !quoted) || token.text.size() > kBytesMax) return false;
  return std::all_of(token.text.begin(), token.text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

// A string that says itself what its value is.
bool plain_string(const SqlToken& token) {
  return token.kind == SqlTokenKind::String && token.text.find('\\') == std::string_view::npos &&
         std::string_view("'$eEnN").find(token.text.front()) != std::string_view::npos;
}

// A call of set_config(setting_name, new_value, is_local), as far as it has been read.
struct ConfigCall {
  std::size_t depth = 1;      // of parentheses
  std::size_t arguments = 0;  // in front of the present one
  std::size_t tokens = 0;     // of the present one
  std::string setting;        // empty: computed, as far as is known
  bool ends_true = false;     // the present argument is the constant true
  bool named = false;         // name => value in front of the last argument: that may be any then

  bool local() const noexcept { return arguments == 2 && ends_true && !named; }
  void next_argument() noexcept {
    ++arguments;
    tokens = 0;
    ends_true = false;
  }
  // Any but what begins and ends the call and its arguments.
  void token(const SqlToken& token, const SqlToken& previous) {
    const bool arrow =
        (token.symbol('>') && previous.symbol('=')) || (token.symbol('=') && previous.symbol(':'));
    if (arrow && depth == 1) {
      named = named || arguments < 2;
      tokens = 0;
      return;
    }
    ++tokens;
    ends_true = tokens == 1 && (token.word("true") ||
                                (token.kind == SqlTokenKind::String && token.string_value() == "true"));
    if (arguments > 0) return;
    // What only begins with a string: what it names is the server's to know.
    const bool of_a_cast = token.symbol(':') || token.symbol('.') || token.kind == SqlTokenKind::Word;
    if (tokens == 1 && !named && plain_string(token))
      setting = ascii_lower(token.string_value());
    else if (tokens == 1 || !of_a_cast)
      setting.clear();
  }
};

// How a text is read, and within how many DO blocks it stands.
struct Reading {
  Backslash backslash;
  int blocks = 0;
};

// Collects the facts of one statement from its tokens.
class StatementReader {
 public:
  StatementReader(SqlFacts& facts, Reading reading) : facts_(&facts), reading_(reading) {}

  void token(const SqlToken& token) {
    if (count_ < kClassifiedTokens) head_[count_] = token;
    ++count_;
    look_at_call(token);
    if (previous_.word("into") && temporary_place(token) && may_select_into())
      facts_->pins.add(PinReason::TemporaryTable);
    if (previous_.word("with") && token.word("hold")) with_hold_ = true;
    if (temporary_schema(token)) temporary_schema_ = true;
    if (token.kind == SqlTokenKind::String && (call_ || head_[0].word("set")) &&
        ascii_lower(token.text).find(kTemporarySchema) != std::string::npos)
      temporary_text_ = true;
    if (on_commit_ && token.word("drop")) dropped_at_commit_ = true;
    on_commit_ = previous_.word("on") && token.word("commit");
    previous_ = token;
  }

  // At a semicolon or the end of the text.
  void end() {
    if (count_ == 0) return;
    if (call_) end_call();
    ++facts_->statement_count;
    finish();
  }

 private:
  static bool temporary_schema(const SqlToken& token) {
    if (token.kind != SqlTokenKind::Word && token.kind != SqlTokenKind::Name) return false;
    if (token.text.size() < 7 || token.text.size() > 80) return false;
    return token.identifier().starts_with(kTemporarySchema);
  }
  // INSERT INTO and MERGE INTO take a table that may well be called temp.
  bool may_select_into() const {
    const SqlToken& first = head_[0];
    return first.symbol('(') || first.word("select") || first.word("with") || first.word("table") ||
           first.word("values") || first.word("explain");
  }
  static bool temporary_place(const SqlToken& token) {
    return token.word("temp") || token.word("temporary") || temporary_schema(token);
  }

  void step(SqlAction action, std::string name = {}) {
    if (facts_->steps.size() == SqlFacts::kStepsMax)
      facts_->truncated = true;
    else
      facts_->steps.push_back(SqlStep{action, std::move(name)});
  }

  void look_at_call(const SqlToken& token);
  void end_call();
  void look_at_search_path();
  void set_of_unknown();
  void finish();
  void finish_do(std::span<const SqlToken> rest);
  void finish_set(std::span<const SqlToken> rest);
  void finish_reset(std::span<const SqlToken> rest);
  void finish_characteristics(std::span<const SqlToken> rest);
  void finish_begin(std::span<const SqlToken> rest);
  void finish_create(std::span<const SqlToken> rest);
  static std::string setting_name(std::span<const SqlToken> rest);
  bool name_is_told(std::span<const SqlToken> rest, SqlAction action) const;
  static std::span<const SqlToken> without_explain(std::span<const SqlToken> head);

  SqlFacts* facts_;
  Reading reading_;
  std::array<SqlToken, kClassifiedTokens> head_{};
  std::size_t count_ = 0;  // of all tokens
  SqlToken previous_;
  bool with_hold_ = false;
  bool temporary_schema_ = false;
  bool temporary_text_ = false;  // a string that a setting may get names it
  bool on_commit_ = false;
  bool dropped_at_commit_ = false;  // ON COMMIT DROP
  std::optional<ConfigCall> call_;
};

bool session_lock(std::string_view function) noexcept {
  return function == "pg_advisory_lock" || function == "pg_advisory_lock_shared" ||
         function == "pg_try_advisory_lock" || function == "pg_try_advisory_lock_shared";
}

void StatementReader::look_at_call(const SqlToken& token) {
  if (token.symbol('(') && (previous_.kind == SqlTokenKind::Word || previous_.kind == SqlTokenKind::Name) &&
      previous_.text.size() >= 10 && previous_.text.size() <= 80) {
    const std::string function = previous_.identifier();
    if (session_lock(function)) facts_->pins.add(PinReason::AdvisoryLock);
    if (function == "set_config") {
      if (!call_) return void(call_.emplace());
      facts_->pins.add(PinReason::Set);  // one within another is not looked at
    }
  }
  if (!call_) return;
  if (token.symbol(')') && --call_->depth == 0) return end_call();
  if (token.symbol(',') && call_->depth == 1) return call_->next_argument();
  if (token.symbol('(')) ++call_->depth;
  call_->token(token, previous_);
}

void StatementReader::end_call() {
  const ConfigCall call = *std::exchange(call_, std::nullopt);
  if (call.setting == kSearchPath) look_at_search_path();
  if (call.local()) return;
  if (call.setting.empty())
    facts_->pins.add(PinReason::Set);
  else
    step(SqlAction::Set, call.setting);
}

// What is created without a schema may be temporary then, and may outlive a search_path that does not.
void StatementReader::look_at_search_path() {
  if (temporary_schema_ || temporary_text_) facts_->pins.add(PinReason::TemporaryTable);
}

// In a DO block the rest of a text to be executed may be computed; elsewhere it is an error.
void StatementReader::set_of_unknown() {
  if (reading_.blocks > 0) facts_->pins.add(PinReason::Set);
}

// EXPLAIN ANALYZE carries out what it explains.
std::span<const SqlToken> StatementReader::without_explain(std::span<const SqlToken> head) {
  if (head.empty() || !head.front().word("explain")) return head;
  head = head.subspan(1);
  if (!head.empty() && head.front().symbol('(')) {
    while (!head.empty() && !head.front().symbol(')'))
      head = head.subspan(1);
    return head.empty() ? head : head.subspan(1);
  }
  while (!head.empty() && (head.front().word("analyze") || head.front().word("verbose")))
    head = head.subspan(1);
  return head;
}

void StatementReader::finish() {
  const auto head =
      without_explain(std::span<const SqlToken>(head_).first(std::min(count_, kClassifiedTokens)));
  if (head.empty()) return;
  const SqlToken& first = head.front();
  const auto rest = head.subspan(1);
  const auto second = rest.empty() ? SqlToken{} : rest.front();
  if (first.kind != SqlTokenKind::Word) return;
  if (first.word("do")) return finish_do(rest);
  if (first.word("set")) return finish_set(rest);
  if (first.word("reset")) return finish_reset(rest);
  if (first.word("begin") || (first.word("start") && second.word("transaction"))) return finish_begin(rest);
  if (first.word("create")) return finish_create(rest);
  if (first.word("discard") && second.word("all")) return step(SqlAction::DiscardAll);
  if (first.word("declare") && with_hold_) return facts_->pins.add(PinReason::HoldCursor);
  if (first.word("load")) return facts_->pins.add(PinReason::Load);
  if (first.word("prepare") && !second.word("transaction")) return facts_->pins.add(PinReason::SqlPrepare);
  if (first.word("listen")) {
    // Only what no server refuses may be listened to on a connection that is others' too.
    if (count_ == 2 && plain_name(second)) return step(SqlAction::Listen, second.identifier());
    return facts_->pins.add(PinReason::Listen);
  }
  if (first.word("unlisten"))
    return second.symbol('*') ? step(SqlAction::UnlistenAll) : step(SqlAction::Unlisten, second.identifier());
  if (first.word("deallocate")) {
    const bool filler = second.word("prepare") && rest.size() > 1;
    const SqlToken& name = filler ? rest[1] : second;
    if (name.word("all")) return step(SqlAction::DeallocateAll);
    return step(SqlAction::Deallocate, name.identifier());
  }
}

void StatementReader::finish_create(std::span<const SqlToken> rest) {
  if (dropped_at_commit_) return;  // nothing of it outlives its transaction
  std::size_t i = 0;
  if (i + 1 < rest.size() && rest[i].word("or") && rest[i + 1].word("replace")) i += 2;
  if (i < rest.size() && (rest[i].word("local") || rest[i].word("global"))) ++i;
  if (temporary_schema_ || (i < rest.size() && (rest[i].word("temp") || rest[i].word("temporary"))))
    facts_->pins.add(PinReason::TemporaryTable);
}

void StatementReader::finish_begin(std::span<const SqlToken> rest) {
  for (std::size_t i = 0; i + 1 < rest.size(); ++i) {
    if (!rest[i].word("read") || facts_->statement_count != 1) continue;
    if (rest[i + 1].word("only")) facts_->target = Target::ReadOnly;
    if (rest[i + 1].word("write")) facts_->target = Target::ReadWrite;
  }
}

std::string StatementReader::setting_name(std::span<const SqlToken> rest) {
  if (rest.empty()) return {};
  const SqlToken second = rest.size() > 1 ? rest[1] : SqlToken{};
  if (rest[0].word("time") && second.word("zone")) return "timezone";
  if (rest[0].word("names")) return "client_encoding";
  if (rest[0].word("schema")) return std::string(kSearchPath);
  if (rest[0].word("xml") && second.word("option")) return "xmloption";
  if (rest[0].word("session") && second.word("authorization")) return "session_authorization";
  std::string name = rest[0].identifier();
  for (std::size_t i = 1; i + 1 < rest.size() && rest[i].symbol('.'); i += 2)
    name += "." + rest[i + 1].identifier();
  // Settings' names are compared without case, also those in quotes.
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return name;
}

// Whether a SET or RESET names its setting whole. In a DO block the text may be what the block puts together:
// a format, or a part of it.
bool StatementReader::name_is_told(std::span<const SqlToken> rest, SqlAction action) const {
  const auto is_name = [&](std::size_t i) {
    return i < rest.size() && (rest[i].kind == SqlTokenKind::Word || rest[i].kind == SqlTokenKind::Name);
  };
  if (!is_name(0)) return false;
  std::size_t end = 1;
  for (; end < rest.size() && rest[end].symbol('.'); end += 2)
    if (!is_name(end + 1)) return false;
  if (action == SqlAction::Reset) return true;
  if (end < rest.size() && (rest[end].symbol('=') || rest[end].word("to"))) return true;
  return rest[0].word("role") || rest[0].word("names") || rest[0].word("schema") || rest[0].word("time") ||
         rest[0].word("xml") || rest[0].word("session");
}

void StatementReader::finish_set(std::span<const SqlToken> rest) {
  if (rest.empty()) return set_of_unknown();
  if (rest[0].word("constraints")) return;
  if (rest[0].word("local")) {
    if (setting_name(rest.subspan(1)) == kSearchPath) look_at_search_path();
    return;
  }
  const SqlToken second = rest.size() > 1 ? rest[1] : SqlToken{};
  if (rest[0].word("transaction") && !second.symbol('=') && !second.word("to")) return;
  if (rest[0].word("session")) {
    if (second.word("characteristics")) return finish_characteristics(rest);
    if (!second.word("authorization") && !second.symbol('=') && !second.word("to")) rest = rest.subspan(1);
  }
  if (reading_.blocks > 0 && !name_is_told(rest, SqlAction::Set)) return set_of_unknown();
  std::string name = setting_name(rest);
  if (name.empty()) return;
  if (name == kSearchPath) look_at_search_path();
  step(SqlAction::Set, std::move(name));
}

void StatementReader::finish_characteristics(std::span<const SqlToken> rest) {
  for (std::size_t i = 2; i < rest.size(); ++i) {
    if (rest[i].word("isolation")) step(SqlAction::Set, "default_transaction_isolation");
    if (rest[i].word("read") && i + 1 < rest.size() &&
        (rest[i + 1].word("only") || rest[i + 1].word("write")))
      step(SqlAction::Set, "default_transaction_read_only");
    if (rest[i].word("deferrable")) step(SqlAction::Set, "default_transaction_deferrable");
  }
}

void StatementReader::finish_reset(std::span<const SqlToken> rest) {
  if (rest.empty()) return set_of_unknown();
  if (rest[0].word("all")) return step(SqlAction::ResetAll);
  if (rest[0].word("transaction")) return;
  if (reading_.blocks > 0 && !name_is_told(rest, SqlAction::Reset)) return set_of_unknown();
  if (std::string name = setting_name(rest); !name.empty()) step(SqlAction::Reset, std::move(name));
}

Target target_named(std::string_view directive) noexcept {
  constexpr std::string_view kTarget = "target";
  if (!directive.starts_with(kTarget)) return Target::Unsaid;
  directive.remove_prefix(kTarget.size());
  const auto skip_blanks = [&] {
    while (directive.starts_with(' '))
      directive.remove_prefix(1);
  };
  skip_blanks();
  if (!directive.starts_with('=')) return Target::Unsaid;
  directive.remove_prefix(1);
  skip_blanks();
  if (directive == "replica") return Target::Replica;
  if (directive == "primary") return Target::Primary;
  return Target::Unsaid;
}

// By its rarest byte, since most texts have none.
bool mentions_us(std::string_view sql) noexcept {
  constexpr std::string_view kName = "sluice";
  for (std::size_t at = sql.find(':'); at != std::string_view::npos; at = sql.find(':', at + 1))
    if (sql.substr(0, at).ends_with(kName)) return true;
  return false;
}

SqlFacts read_text(std::string_view sql, Reading reading) {
  SqlFacts facts;
  if (surely_ordinary(sql)) {
    facts.statement_count = 1;
    return facts;
  }
  SqlLexer lexer(sql, reading.backslash);
  StatementReader statement(facts, reading);
  for (SqlToken token = lexer.next();; token = lexer.next()) {
    if (token.kind == SqlTokenKind::End || token.symbol(';')) {
      statement.end();
      if (token.kind == SqlTokenKind::End) break;
      statement = StatementReader(facts, reading);
      continue;
    }
    statement.token(token);
  }
  if (const Target named = target_named(lexer.directive()); named != Target::Unsaid) facts.target = named;
  return facts;
}

// Of what a DO block does: what stays in the session. The rest has no answer of its own.
void take_over(const SqlFacts& block, SqlFacts& facts) {
  facts.pins.add(block.pins);
  if (block.truncated || facts.steps.size() + block.steps.size() > SqlFacts::kStepsMax)
    return facts.pins.add(PinReason::Set);
  for (const SqlStep& step : block.steps) {
    if (step.action == SqlAction::Set || step.action == SqlAction::Reset ||
        step.action == SqlAction::ResetAll)
      facts.steps.push_back(step);
    else if (step.action == SqlAction::Listen)
      facts.pins.add(PinReason::Listen);
  }
}

// What a string is when it is executed, its blanks written as escapes included; nothing where another escape
// hides some of it.
std::optional<std::string> executed(const SqlToken& token, Backslash backslash) {
  const char kind = token.text.front();
  const bool escapes = kind == 'e' || kind == 'E' || (kind == '\'' && backslash == Backslash::Escape);
  const bool may_hide = escapes || kind == 'u' || kind == 'U';
  if (!may_hide || token.text.find('\\') == std::string_view::npos) return token.string_value();
  std::string value;
  const std::string raw = token.string_value();
  for (std::size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] != '\\') {
      value += raw[i];
      continue;
    }
    constexpr std::string_view kBlanks = "nrtf";
    if (!escapes || ++i == raw.size() || kBlanks.find(raw[i]) == std::string_view::npos) return std::nullopt;
    value += '\n';  // which ends a comment, as a real one may
  }
  return value;
}

// PL/pgSQL: statements begin behind some of its words, too, and a string may be one to be executed.
void read_block(std::string_view code, Reading reading, SqlFacts& facts) {
  SqlFacts block;
  SqlLexer lexer(code, reading.backslash);
  StatementReader statement(block, reading);
  bool first = true;
  bool raises = false;  // what it says is not executed
  for (SqlToken token = lexer.next();; token = lexer.next()) {
    const bool begins = token.word("begin") || token.word("then") || token.word("else") ||
                        token.word("loop") || token.word("declare");
    if (token.kind == SqlTokenKind::End || token.symbol(';') || begins) {
      statement.end();
      if (token.kind == SqlTokenKind::End) break;
      statement = StatementReader(block, reading);
      first = true;
      continue;
    }
    if (std::exchange(first, false)) raises = token.word("raise");
    if (token.kind == SqlTokenKind::String && !raises) {
      if (const std::optional<std::string> text = executed(token, reading.backslash))
        take_over(read_text(*text, reading), facts);
      else
        facts.pins.add(PinReason::Set);
    }
    statement.token(token);
  }
  take_over(block, facts);
}

void StatementReader::finish_do(std::span<const SqlToken> rest) {
  facts_->has_block = true;
  for (const SqlToken& token : rest) {
    if (token.kind != SqlTokenKind::String) continue;
    if (reading_.blocks == kBlocksMax || !(token.text.starts_with('$') || plain_string(token)))
      return facts_->pins.add(PinReason::Set);
    read_block(token.string_value(), Reading{reading_.backslash, reading_.blocks + 1}, *facts_);
  }
}

}  // namespace

SqlFacts classify(std::string_view sql, Backslash backslash) {
  return read_text(sql, Reading{backslash});
}

Target target_of(std::string_view sql) noexcept {
  const std::size_t word = sql.find_first_not_of(" \t\r\n");
  if (word == std::string_view::npos) return Target::Unsaid;
  const auto letter = [&](std::size_t i) {
    return word + i < sql.size() ? static_cast<char>(sql[word + i] | 0x20) : '\0';
  };
  const char first = letter(0);
  // BEGIN, START and SET, and what a comment hides.
  const bool may_say = first == 'b' || (first == 's' && (letter(1) == 't' || letter(2) == 't')) ||
                       sql[word] == '/' || sql[word] == '-';
  return may_say || mentions_us(sql) ? classify(sql).target : Target::Unsaid;
}

}  // namespace sluice::pooling
