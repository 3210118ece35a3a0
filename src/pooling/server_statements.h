#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <unordered_map>
#include <vector>

#include "pooling/statement.h"

namespace sluice::pooling {

// What one server connection has prepared, as the router believes it. One per server connection, as old as
// it. Shape:  at most `statements_max` (>= 1) statements, least recently used first to go, and the router's
// guard (a
//         statement with an empty text that stands for a name in use).
// Thread: the one of its connection.
class ServerStatements {
 public:
  explicit ServerStatements(std::size_t statements_max) : statements_max_(statements_max) {}
  ServerStatements(const ServerStatements&) = delete;
  ServerStatements& operator=(const ServerStatements&) = delete;

  // The connection has none any more: after DISCARD ALL or DEALLOCATE ALL, which a reset runs, too.
  void forget_all() noexcept;
  std::size_t size() const noexcept { return used_.size(); }
  std::size_t statements_max() const noexcept { return statements_max_; }

  struct Entry {
    StatementPtr statement;
    bool stale = false;  // still there, but to be closed before it is prepared again
  };

 private:
  friend class SessionTranslator;
  using Order = std::list<Entry>;

  // True, and now the most recently used one, when the server has it and it is no stale one.
  bool touch(const Statement& statement) noexcept;
  Entry* find(const Statement& statement) noexcept;
  void insert(StatementPtr statement);
  // The one to close before one more is inserted; nothing when there is room.
  std::optional<Entry> take_victim();
  // Puts an entry back that was taken, as the least recently used one.
  void restore(Entry entry);
  void erase(const Statement& statement) noexcept;
  std::vector<Entry> entries() const { return {used_.begin(), used_.end()}; }

  const std::size_t statements_max_;
  Bytes replay_;        // the batch under way, while it might have to be sent again
  bool guard_ = false;  // the guard is prepared
  // The session whose unnamed statement is there, or that left none, and which one of it; 0: nobody.
  std::uint64_t unnamed_owner_ = 0;
  std::uint64_t unnamed_version_ = 0;
  Order used_;  // most recently used first
  std::unordered_map<const Statement*, Order::iterator> index_;
};

}  // namespace sluice::pooling
