#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "pooling/statement.h"

namespace sluice::pooling {

// A client's names for its prepared statements; the unnamed one is not among them.
// Cost: find() allocates nothing. Thread: one.
class ClientNames {
 public:
  struct Entry {
    StatementPtr statement;
    // The client has been given a description of its result: it may rely on it.
    bool described = false;
  };

  // Valid until the name is erased.
  Entry* find(std::string_view name) noexcept {
    const auto found = entries_.find(name);
    return found == entries_.end() ? nullptr : &found->second;
  }
  const Entry* find(std::string_view name) const noexcept {
    const auto found = entries_.find(name);
    return found == entries_.end() ? nullptr : &found->second;
  }
  // Replaces nothing: the name is free.
  Entry& insert(std::string name, Entry entry);
  void erase(std::string_view name) noexcept;
  void clear() noexcept {
    entries_.clear();
    names_of_.clear();
    bytes_ = 0;
  }

  // Whether the statement has several of these names.
  bool ambiguous(const Statement& statement) const noexcept {
    if (names_of_.size() == entries_.size()) return false;
    const auto found = names_of_.find(&statement);
    return found != names_of_.end() && found->second > 1;
  }
  std::size_t size() const noexcept { return entries_.size(); }
  // Of names and texts, a text that has several names counted for each.
  std::size_t bytes() const noexcept { return bytes_; }

  // Calls see(name, entry) for each.
  template <class See>
  void for_each(See see) {
    for (auto& [name, entry] : entries_)
      see(std::string_view(name), entry);
  }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept {
      return std::hash<std::string_view>{}(text);
    }
  };
  static std::size_t cost(std::string_view name, const Entry& entry) noexcept {
    return name.size() + entry.statement->body().size();
  }

  std::unordered_map<std::string, Entry, Hash, std::equal_to<>> entries_;
  std::unordered_map<const Statement*, std::size_t> names_of_;  // how many
  std::size_t bytes_ = 0;
};

}  // namespace sluice::pooling
