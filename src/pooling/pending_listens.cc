#include "pooling/pending_listens.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace sluice::pooling {

std::deque<PendingListens::Savepoint>::iterator PendingListens::find(std::string_view name) {
  const auto found = std::find_if(savepoints_.rbegin(), savepoints_.rend(),
                                  [name](const Savepoint& savepoint) { return savepoint.name == name; });
  return found == savepoints_.rend() ? savepoints_.end() : std::prev(found.base());
}

void PendingListens::savepoint(std::string name) {
  if (changes_.empty()) return;
  if (savepoints_.size() == kSavepointsMax) savepoints_.pop_front();
  savepoints_.push_back({std::move(name), changes_.size()});
}

void PendingListens::release(std::string_view name) {
  auto first = find(name);
  if (first == savepoints_.end())
    first = savepoints_.begin();  // one of before the first change: older than all
  savepoints_.erase(first, savepoints_.end());
}

void PendingListens::rollback_to(std::string_view name) {
  const auto found = find(name);
  if (found == savepoints_.end()) return rollback();
  changes_.erase(changes_.begin() + static_cast<std::ptrdiff_t>(found->changes), changes_.end());
  savepoints_.erase(std::next(found), savepoints_.end());
}

void PendingListens::clear() noexcept {
  changes_.clear();
  savepoints_.clear();
}

void PendingListens::commit(std::vector<ListenChange>& committed) {
  std::move(changes_.begin(), changes_.end(), std::back_inserter(committed));
  rollback();
}

}  // namespace sluice::pooling
