#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/policy/budgets.h"

#include "base/bytes.h"
#include "config/config.h"
#include "config/match.h"

namespace sluice::router {

// In which budget a session, or each of its transactions, is counted: the first entry of `budgets` that
// matches. What does not change while a session lives is matched once; the route of a transaction is looked
// for only where an entry asks for it. The configuration must outlive it.
class BudgetMatch {
 public:
  BudgetMatch() = default;
  // `ids`: of config.budgets, in their order.
  BudgetMatch(const config::Config& config, std::span<const policy::BudgetId> ids,
              const config::ClientFacts& facts, std::string_view class_name);

  // Of a session, or a transaction whose first statement names no route.
  std::optional<policy::BudgetId> without_route() const noexcept { return rest_; }
  // Of a transaction; `first`: its first message, as much of it as is there.
  std::optional<policy::BudgetId> of_transaction(ByteView first) const;

 private:
  struct ByRoute {
    const config::Budget* entry;
    policy::BudgetId id;
  };
  std::vector<ByRoute> by_route_;  // those in front of rest_
  std::optional<policy::BudgetId> rest_;
};

// The route that a Query or Parse message names in a comment; "" for none. O(1) where there is no comment.
std::string route_of_message(ByteView message);

}  // namespace sluice::router
