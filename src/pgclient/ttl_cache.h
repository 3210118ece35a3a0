#pragma once

#include <chrono>
#include <cstddef>
#include <list>
#include <string>
#include <unordered_map>
#include <utility>

namespace sluice::pgclient {

// Values by name, at most `entries_max` (>= 1); the least recently used goes first. Pure: time comes in.
// O(1).
template <class T>
class TtlCache {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  struct Entry {
    std::string key;
    T value;
    TimePoint fetched, expires;
  };

  explicit TtlCache(std::size_t entries_max) : entries_max_(entries_max == 0 ? 1 : entries_max) {}

  // Null when absent or expired. Valid until the next put() or clear().
  const Entry* find(const std::string& key, TimePoint now) {
    const auto found = index_.find(key);
    if (found == index_.end()) return nullptr;
    if (found->second->expires <= now) {
      entries_.erase(found->second);
      index_.erase(found);
      return nullptr;
    }
    entries_.splice(entries_.begin(), entries_, found->second);
    return &entries_.front();
  }

  void put(const std::string& key, T value, TimePoint now, std::chrono::milliseconds ttl) {
    if (const auto found = index_.find(key); found != index_.end()) {
      entries_.erase(found->second);
      index_.erase(found);
    }
    entries_.push_front({key, std::move(value), now, now + ttl});
    index_.emplace(key, entries_.begin());
    if (entries_.size() > entries_max_) {
      index_.erase(entries_.back().key);
      entries_.pop_back();
    }
  }

  void clear() {
    index_.clear();
    entries_.clear();
  }
  std::size_t size() const noexcept { return entries_.size(); }

 private:
  std::size_t entries_max_;
  std::list<Entry> entries_;  // most recently used first; index_ holds the same entries
  std::unordered_map<std::string, typename std::list<Entry>::iterator> index_;
};

}  // namespace sluice::pgclient
