#include "router/budget_match.h"

#include <algorithm>

#include "trace/comment.h"

namespace sluice::router {
namespace {

constexpr std::size_t kTypeAndLengthBytes = 5;  // type and length

// The SQL of a Query, or of a Parse behind the statement's name; "" in any other message.
std::string_view sql_of(ByteView message) {
  if (message.size() < kTypeAndLengthBytes) return {};
  const char type = static_cast<char>(message.front());
  std::string_view text = as_text(message.subspan(kTypeAndLengthBytes));
  if (type == 'P') {
    const std::size_t name_end = text.find('\0');
    if (name_end == std::string_view::npos) return {};
    text.remove_prefix(name_end + 1);
  } else if (type != 'Q') {
    return {};
  }
  return text.substr(0, text.find('\0'));
}

}  // namespace

std::string route_of_message(ByteView message) {
  const std::string_view sql = sql_of(message);
  if (!trace::begins_with_comment(sql) && !trace::ends_with_comment(sql)) return {};
  return trace::read_comments(sql, sql).route;
}

BudgetMatch::BudgetMatch(const config::Config& config, std::span<const policy::BudgetId> ids,
                         const config::ClientFacts& facts, std::string_view class_name) {
  for (std::size_t i = 0; i < config.budgets.size(); ++i) {
    const config::Budget& entry = config.budgets[i];
    if (!config::matches_budget(entry, facts, class_name)) continue;
    if (entry.route.empty()) {
      rest_ = ids[i];
      return;
    }
    by_route_.push_back({&entry, ids[i]});
  }
}

std::optional<policy::BudgetId> BudgetMatch::of_transaction(ByteView first) const {
  if (by_route_.empty()) return rest_;
  const std::string route = route_of_message(first);
  if (route.empty()) return rest_;
  const auto found = std::find_if(by_route_.begin(), by_route_.end(), [&](const ByRoute& one) {
    return config::matches_any(one.entry->route, route);
  });
  return found == by_route_.end() ? rest_ : std::optional(found->id);
}

}  // namespace sluice::router
