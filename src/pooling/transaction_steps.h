#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pooling/sql_lexer.h"

namespace sluice::pooling {

// A statement that ends a transaction, or begins or ends a part of one that can be rolled back by itself.
// Each is answered by one tag of the kind's first word; COMMIT of a transaction that has failed by ROLLBACK.
struct TransactionStep {
  enum class Kind { Commit, Rollback, Savepoint, Release, RollbackTo };
  Kind kind;
  std::string name;  // of a savepoint, as PostgreSQL folds it

  friend bool operator==(const TransactionStep&, const TransactionStep&) = default;
};

// Those of a text, in order; at most kTransactionStepsMax. What is behind PREPARED and PREPARE TRANSACTION is
// none. Cost: O(text).
inline constexpr std::size_t kTransactionStepsMax = 256;
std::vector<TransactionStep> transaction_steps(std::string_view sql, Backslash backslash);

}  // namespace sluice::pooling
