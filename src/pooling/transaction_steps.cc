#include "pooling/transaction_steps.h"

#include <array>
#include <cstddef>
#include <optional>
#include <span>

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
  if (first.word("commit") || first.word("end")) return TransactionStep{Kind::Commit, {}};
  if (!first.word("rollback") && !first.word("abort")) return std::nullopt;
  if (!rest.empty() && filler(rest.front())) rest = rest.subspan(1);
  if (rest.empty() || !rest.front().word("to")) return TransactionStep{Kind::Rollback, {}};
  rest = rest.subspan(1);
  return named(Kind::RollbackTo);
}

}  // namespace

std::vector<TransactionStep> transaction_steps(std::string_view sql, Backslash backslash) {
  std::vector<TransactionStep> steps;
  std::array<SqlToken, kStepTokens> head{};
  std::size_t count = 0;
  SqlLexer lexer(sql, backslash);
  for (SqlToken token = lexer.next(); steps.size() < kTransactionStepsMax; token = lexer.next()) {
    const bool end = token.kind == SqlTokenKind::End;
    if (!end && !token.symbol(';')) {
      if (count < kStepTokens) head[count++] = token;
      continue;
    }
    if (auto step = step_of(std::span(head).first(count))) steps.push_back(*std::move(step));
    count = 0;
    if (end) break;
  }
  return steps;
}

}  // namespace sluice::pooling
