#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pooling/sql_facts.h"

namespace sluice::pooling {

// A LISTEN or UNLISTEN that has taken effect: its transaction was committed.
struct ListenChange {
  SqlAction action;  // Listen, Unlisten, UnlistenAll
  std::string channel;

  friend bool operator==(const ListenChange&, const ListenChange&) = default;
};

// The changes of a transaction under way, and the savepoints behind the first of them: what is rolled back to
// a savepoint never was. Source: PostgreSQL, async.c, AtSubAbort_Notify().
// Bounds: as many changes as add() is called for; kSavepointsMax savepoints, of which the oldest is forgotten
//         for another one.
class PendingListens {
 public:
  static constexpr std::size_t kSavepointsMax = 10'000;

  void add(ListenChange change) { changes_.push_back(std::move(change)); }
  bool empty() const noexcept { return changes_.empty(); }
  std::size_t size() const noexcept { return changes_.size(); }

  void savepoint(std::string name);
  void release(std::string_view name);
  // One that is not known is older than all changes.
  void rollback_to(std::string_view name);
  void rollback() noexcept {
    if (!changes_.empty() || !savepoints_.empty()) clear();
  }
  // The changes, in order, are appended to `committed`.
  void commit(std::vector<ListenChange>& committed);

 private:
  void clear() noexcept;
  struct Savepoint {
    std::string name;
    std::size_t changes;  // before it
  };
  // The latest of that name, or the end.
  std::deque<Savepoint>::iterator find(std::string_view name);

  std::vector<ListenChange> changes_;
  std::deque<Savepoint> savepoints_;
};

}  // namespace sluice::pooling
