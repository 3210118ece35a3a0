#include "pooling/client_names.h"

#include <utility>

#include "base/assert.h"

namespace sluice::pooling {

ClientNames::Entry& ClientNames::insert(std::string name, Entry entry) {
  bytes_ += cost(name, entry);
  const auto [at, inserted] = entries_.emplace(std::move(name), std::move(entry));
  SLUICE_ASSERT(inserted);
  ++names_of_[at->second.statement.get()];
  return at->second;
}

void ClientNames::erase(std::string_view name) noexcept {
  const auto found = entries_.find(name);
  if (found == entries_.end()) return;
  bytes_ -= cost(found->first, found->second);
  const auto count = names_of_.find(found->second.statement.get());
  if (--count->second == 0) names_of_.erase(count);
  entries_.erase(found);
}

}  // namespace sluice::pooling
