#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pooling/sql_lexer.h"

namespace sluice::pooling {

// A statement that ends a transaction, or begins or ends a part of one that can be rolled back by itself.
struct TransactionStep {
  enum class Kind { Commit, Rollback, Savepoint, Release, RollbackTo, Prepare };
  Kind kind;
  std::string name;  // of a savepoint, as PostgreSQL folds it

  friend bool operator==(const TransactionStep&, const TransactionStep&) = default;
};

// Whether a step may be answered by this tag of a CommandComplete. COMMIT and PREPARE TRANSACTION of a
// transaction that has failed are answered by ROLLBACK, as ROLLBACK TO always is.
bool answers(std::string_view tag, TransactionStep::Kind kind) noexcept;

// Those of a text, in order; nothing where they are more than kTransactionStepsMax. COMMIT PREPARED and
// ROLLBACK PREPARED are none, nor is what stands in the body of a CREATE FUNCTION or PROCEDURE. Cost:
// O(text).
inline constexpr std::size_t kTransactionStepsMax = 4096;
std::optional<std::vector<TransactionStep>> transaction_steps(std::string_view sql, Backslash backslash);

}  // namespace sluice::pooling
