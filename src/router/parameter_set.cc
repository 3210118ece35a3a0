#include "router/parameter_set.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <mutex>

#include "protocol/backend_messages.h"

namespace sluice::router {

std::string_view ParameterSet::value(std::string_view name) const noexcept {
  const auto found =
      std::find_if(entries_.begin(), entries_.end(), [&](const auto& e) { return e.first == name; });
  return found == entries_.end() ? std::string_view() : std::string_view(found->second);
}

void ParameterSet::append_messages(Bytes& out) const {
  constexpr std::size_t kFrameBytes = 7;  // type, length and two zero bytes
  std::size_t size = out.size();
  for (const auto& [name, value] : entries_)
    size += kFrameBytes + name.size() + value.size();
  out.reserve(size);
  for (const auto& [name, value] : entries_)
    protocol::append_parameter_status(out, name, value);
}

std::shared_ptr<const ParameterSet> ParameterSet::intern(Entries entries) {
  static std::mutex mutex;
  static std::map<Entries, std::weak_ptr<const ParameterSet>> known;
  const std::lock_guard lock(mutex);
  // Each time as many came as were left last time, so that a login costs no walk over all sets.
  static std::size_t clean_at = 64;
  if (known.size() >= clean_at) {
    std::erase_if(known, [](const auto& item) { return item.second.expired(); });
    clean_at = std::max<std::size_t>(64, 2 * known.size());
  }
  std::weak_ptr<const ParameterSet>& slot = known[entries];
  if (auto existing = slot.lock()) return existing;
  auto made = std::make_shared<const ParameterSet>(std::move(entries));
  slot = made;
  return made;
}

std::shared_ptr<const ParameterSet> ParameterSet::apply(std::shared_ptr<const ParameterSet> base,
                                                        const Entries& changes) {
  // The usual case, a reset that changes nothing, copies nothing.
  if (std::all_of(changes.begin(), changes.end(), [&](const auto& change) {
        const auto& known = base->entries();
        return std::find(known.begin(), known.end(), change) != known.end();
      }))
    return base;
  Entries entries = base->entries();
  for (const auto& change : changes) {
    const auto known =
        std::find_if(entries.begin(), entries.end(), [&](const auto& e) { return e.first == change.first; });
    if (known == entries.end()) {
      entries.push_back(change);
    } else {
      known->second = change.second;
    }
  }
  return intern(std::move(entries));
}

}  // namespace sluice::router
