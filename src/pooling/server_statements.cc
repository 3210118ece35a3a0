#include "pooling/server_statements.h"

#include <iterator>
#include <utility>

namespace sluice::pooling {

void ServerStatements::forget_all() noexcept {
  used_.clear();
  index_.clear();
  guard_ = false;
  unnamed_owner_ = 0;
}

bool ServerStatements::touch(const Statement& statement) noexcept {
  const auto found = index_.find(&statement);
  if (found == index_.end() || found->second->stale) return false;
  used_.splice(used_.begin(), used_, found->second);
  return true;
}

ServerStatements::Entry* ServerStatements::find(const Statement& statement) noexcept {
  const auto found = index_.find(&statement);
  return found == index_.end() ? nullptr : &*found->second;
}

void ServerStatements::insert(StatementPtr statement) {
  const Statement* key = statement.get();
  used_.push_front(Entry{std::move(statement), false});
  index_[key] = used_.begin();
}

std::optional<ServerStatements::Entry> ServerStatements::take_victim() {
  if (used_.size() < statements_max_) return std::nullopt;
  Entry victim = std::move(used_.back());
  index_.erase(victim.statement.get());
  used_.pop_back();
  return victim;
}

void ServerStatements::restore(Entry entry) {
  const Statement* key = entry.statement.get();
  if (index_.contains(key)) return;
  used_.push_back(std::move(entry));
  index_[key] = std::prev(used_.end());
}

void ServerStatements::erase(const Statement& statement) noexcept {
  const auto found = index_.find(&statement);
  if (found == index_.end()) return;
  used_.erase(found->second);
  index_.erase(found);
}

}  // namespace sluice::pooling
