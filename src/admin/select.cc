#include "admin/select.h"

#include <charconv>
#include <optional>

#include "admin/session_settings.h"
#include "admin/text.h"

namespace sluice::admin {
namespace {

struct Value {
  std::string column;
  ColumnType type = ColumnType::Text;
  Cell cell;
};

SqlError not_a_database() {
  return {
      "0A000", "this is the console of Sluice, not a database", {}, "SHOW HELP lists what it understands."};
}

class SelectList {
 public:
  SelectList(std::span<const Token> tokens, const SessionFacts& facts) : rest_(tokens), facts_(facts) {}

  std::optional<ConstantRow> parse() {
    ConstantRow result;
    do {
      std::optional<Value> value = item();
      if (!value) return std::nullopt;
      result.columns.emplace_back(std::move(value->column), value->type);
      result.row.push_back(std::move(value->cell));
    } while (take_symbol(','));
    if (!rest_.empty()) return std::nullopt;
    result.tag = "SELECT 1";
    return result;
  }

 private:
  bool take_symbol(char symbol) {
    if (rest_.empty() || rest_[0].kind != TokenKind::Symbol || rest_[0].text[0] != symbol) return false;
    rest_ = rest_.subspan(1);
    return true;
  }

  std::optional<Value> item() {
    if (rest_.empty()) return std::nullopt;
    const Token token = rest_[0];
    rest_ = rest_.subspan(1);
    std::optional<Value> value;
    if (token.kind == TokenKind::Number) {
      std::int64_t number = 0;
      const auto [end, error] =
          std::from_chars(token.text.data(), token.text.data() + token.text.size(), number);
      if (error == std::errc()) value = Value{"?column?", ColumnType::Int8, number};
    } else if (token.kind == TokenKind::String) {
      value = Value{"?column?", ColumnType::Text, token.text};
    } else if (token.kind == TokenKind::Word) {
      value = named(token.text);
    }
    if (value && !rest_.empty() && rest_[0].kind == TokenKind::Word && same_word(rest_[0].text, "as")) {
      if (rest_.size() < 2 || (rest_[1].kind != TokenKind::Word && rest_[1].kind != TokenKind::Name))
        return std::nullopt;
      value->column = rest_[1].text;
      rest_ = rest_.subspan(2);
    }
    return value;
  }

  std::optional<Value> named(std::string_view word) {
    constexpr std::string_view kSchema = "pg_catalog.";
    if (word.size() > kSchema.size() && same_word(word.substr(0, kSchema.size()), kSchema))
      word.remove_prefix(kSchema.size());
    const auto is = [word](std::string_view name) { return same_word(word, name); };
    const bool call = take_symbol('(');
    if (call && is("current_setting")) {
      if (rest_.empty() || rest_[0].kind != TokenKind::String) return std::nullopt;
      const std::optional<std::string> value = setting_value(rest_[0].text, facts_);
      rest_ = rest_.subspan(1);
      if (!value || !take_symbol(')')) return std::nullopt;
      return Value{"current_setting", ColumnType::Text, *value};
    }
    if (call && !take_symbol(')')) return std::nullopt;
    if (call) return function(is);
    if (is("null")) return Value{"?column?", ColumnType::Text, {}};
    if (is("true") || is("false"))
      return Value{"bool", ColumnType::Text, std::string(is("true") ? "t" : "f")};
    for (const std::string_view name : {"current_user", "session_user", "user", "current_role"})
      if (is(name)) return Value{std::string(name), ColumnType::Text, facts_.user};
    if (is("current_catalog")) return Value{"current_catalog", ColumnType::Text, facts_.database};
    if (is("current_schema")) return Value{"current_schema", ColumnType::Text, {}};
    return std::nullopt;
  }

  template <class Is>
  std::optional<Value> function(const Is& is) const {
    if (is("version")) return Value{"version", ColumnType::Text, "Sluice " + facts_.version};
    if (is("current_database")) return Value{"current_database", ColumnType::Text, facts_.database};
    if (is("current_schema")) return Value{"current_schema", ColumnType::Text, {}};
    if (is("pg_is_in_recovery")) return Value{"pg_is_in_recovery", ColumnType::Text, std::string("f")};
    if (is("pg_backend_pid")) return Value{"pg_backend_pid", ColumnType::Int8, std::int64_t{0}};
    if (is("pg_advisory_unlock_all")) return Value{"pg_advisory_unlock_all", ColumnType::Text, std::string()};
    return std::nullopt;
  }

  std::span<const Token> rest_;
  const SessionFacts& facts_;
};

}  // namespace

std::variant<ConstantRow, SqlError> parse_select(std::span<const Token> tokens, const SessionFacts& facts) {
  std::optional<ConstantRow> row = SelectList(tokens.subspan(1), facts).parse();
  if (!row) return not_a_database();
  return std::move(*row);
}

}  // namespace sluice::admin
