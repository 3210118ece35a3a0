#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "pooling/pin_reason.h"

namespace sluice::pooling {

// Where a statement asks to be run: the comment sluice: target=..., else how it begins its transaction.
enum class Target : std::uint8_t { Unsaid, Primary, Replica, ReadOnly, ReadWrite };

// What a statement does that concerns pooling. Others are Other.
enum class SqlAction : std::uint8_t {
  Other,
  Set,            // SET name, set_config('name', ..., false)
  Reset,          // RESET name
  ResetAll,       // RESET ALL
  DiscardAll,     // DISCARD ALL
  DeallocateAll,  // DEALLOCATE ALL
  Deallocate,     // DEALLOCATE name
  Listen,         // LISTEN name
  Unlisten,       // UNLISTEN name
  UnlistenAll,    // UNLISTEN *
};

inline bool listens(SqlAction action) noexcept {
  return action == SqlAction::Listen || action == SqlAction::Unlisten || action == SqlAction::UnlistenAll;
}

// One action of a text, with the name it acts on as PostgreSQL folds it (lower case unless quoted, at most 63
// bytes).
struct SqlStep {
  SqlAction action = SqlAction::Other;
  std::string name;

  friend bool operator==(const SqlStep&, const SqlStep&) = default;
};

// What a whole text (one Query, one Parse) does.
struct SqlFacts {
  PinReasons pins;
  Target target = Target::Unsaid;  // of its first statement; a comment outranks BEGIN's mode
  std::uint32_t statement_count = 0;
  bool has_block = false;      // DO
  bool truncated = false;      // there was more text than was looked at, or more steps than are kept
  std::vector<SqlStep> steps;  // without Other, in order; at most kStepsMax

  static constexpr std::size_t kStepsMax = 32;

  // There may be more in it than was looked at that leaves something behind.
  bool large() const noexcept { return truncated && (statement_count != 1 || has_block); }
  // Nothing that pooling has to act upon.
  bool ordinary() const noexcept { return pins.empty() && steps.empty() && !truncated; }
  // The one step of a text that has no other statement, else nullptr.
  const SqlStep* only_step() const noexcept {
    return statement_count == 1 && steps.size() == 1 ? &steps.front() : nullptr;
  }
};

}  // namespace sluice::pooling
