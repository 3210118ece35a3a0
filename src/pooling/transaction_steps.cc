#include "pooling/transaction_steps.h"

#include <array>
#include <cstddef>
#include <span>
#include <utility>

namespace sluice::pooling {
namespace {

using Kind = TransactionStep::Kind;

// ROLLBACK WORK TO SAVEPOINT name
constexpr std::size_t kStepTokens = 5;

bool filler(const SqlToken& token) {
  return token.word("work") || token.word("transaction");
}

std::optional<TransactionStep> step_of(std::span<const SqlToken> head) {
  if (head.empty()) return std::nullopt;
  const SqlToken& first = head.front();
  std::span<const SqlToken> rest = head.subspan(1);
  const auto named = [&rest](Kind kind) -> std::optional<TransactionStep> {
    if (rest.size() > 1 && rest.front().word("savepoint")) rest = rest.subspan(1);
    return rest.empty() ? std::nullopt : std::optional(TransactionStep{kind, rest.front().identifier()});
  };
  if (first.word("savepoint"))
    return rest.empty() ? std::nullopt
                        : std::optional(TransactionStep{Kind::Savepoint, rest.front().identifier()});
  if (first.word("release")) return named(Kind::Release);
  if (!rest.empty() && rest.front().word("prepared")) return std::nullopt;
  if (first.word("prepare") && !rest.empty() && rest.front().word("transaction"))
    return TransactionStep{Kind::Prepare, {}};
  if (first.word("commit") || first.word("end")) return TransactionStep{Kind::Commit, {}};
  if (!first.word("rollback") && !first.word("abort")) return std::nullopt;
  if (!rest.empty() && filler(rest.front())) rest = rest.subspan(1);
  if (rest.empty() || !rest.front().word("to")) return TransactionStep{Kind::Rollback, {}};
  rest = rest.subspan(1);
  return named(Kind::RollbackTo);
}

// Where a statement ends. One that makes a function or procedure may have statements of its own, between
// BEGIN ATOMIC and END, and in those CASE has an END, too.
class StatementEnds {
 public:
  // Whether the token, taken in order, ends a statement.
  bool take(const SqlToken& token) {
    const bool ends = token.kind == SqlTokenKind::End || (token.symbol(';') && depth_ == 0);
    if (ends) {
      *this = StatementEnds();
    } else if (words_ < kHeadWords && makes_ != Makes::Routine) {
      look_at_head(token);
    } else if (makes_ == Makes::Routine) {
      look_at_body(token);
    }
    return ends;
  }

 private:
  enum class Makes { Unknown, Something, Routine };
  static constexpr std::size_t kHeadWords = 4;  // CREATE OR REPLACE FUNCTION

  void look_at_head(const SqlToken& token) {
    const bool first = words_++ == 0;
    if (first) makes_ = token.word("create") ? Makes::Something : Makes::Unknown;
    if (makes_ == Makes::Something && (token.word("function") || token.word("procedure")))
      makes_ = Makes::Routine;
  }
  void look_at_body(const SqlToken& token) {
    const bool begun = std::exchange(after_begin_, token.word("begin"));
    if (begun && token.word("atomic")) ++depth_;
    if (depth_ > 0 && token.word("case")) ++depth_;
    if (depth_ > 0 && token.word("end")) --depth_;
  }

  Makes makes_ = Makes::Unknown;
  std::size_t words_ = 0;  // of its head, as far as they were looked at
  std::size_t depth_ = 0;  // of what an END ends
  bool after_begin_ = false;
};

}  // namespace

bool answers(std::string_view tag, Kind kind) noexcept {
  switch (kind) {
    case Kind::Commit:
      return tag == "COMMIT" || tag == "ROLLBACK";
    case Kind::Rollback:
    case Kind::RollbackTo:
      return tag == "ROLLBACK";
    case Kind::Savepoint:
      return tag == "SAVEPOINT";
    case Kind::Release:
      return tag == "RELEASE";
    case Kind::Prepare:
      return tag == "PREPARE TRANSACTION" || tag == "ROLLBACK";
  }
  return false;
}

std::optional<std::vector<TransactionStep>> transaction_steps(std::string_view sql, Backslash backslash) {
  std::vector<TransactionStep> steps;
  std::array<SqlToken, kStepTokens> head{};
  std::size_t count = 0;
  StatementEnds ends;
  SqlLexer lexer(sql, backslash);
  for (;;) {
    const SqlToken token = lexer.next();
    if (!ends.take(token)) {
      if (count < kStepTokens) head[count++] = token;
      continue;
    }
    if (auto step = step_of(std::span(head).first(count))) {
      if (steps.size() == kTransactionStepsMax) return std::nullopt;
      steps.push_back(*std::move(step));
    }
    count = 0;
    if (token.kind == SqlTokenKind::End) return steps;
  }
}

}  // namespace sluice::pooling
