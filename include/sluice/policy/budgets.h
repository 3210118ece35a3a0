#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/ratio.h"

#include "base/strong_id.h"

namespace sluice::policy {

// Given out by name and kept across reloads, as ReplicaId.
using BudgetId = StrongId<struct BudgetTag, std::uint32_t>;

enum class BudgetMode {
  Off,
  Warn,     // counts what Enforce would refuse
  Enforce,  // refuses
};

// A share of all slots for the sessions or transactions that it is matched to.
struct BudgetParams {
  std::string name;
  BudgetMode mode = BudgetMode::Off;
  Ratio active_share;  // of slots taken and waited for, at any moment; 0: not limited
  Ratio busy_share;    // of the slots' time, averaged over the window; 0: not limited
};

struct BudgetState {
  BudgetParams params;
  std::int64_t active = 0;
  std::int64_t waiting = 0;
  double busy = 0;                     // slots taken on average over the window
  std::uint64_t refused = 0;           // since start, by Enforce
  std::uint64_t would_be_refused = 0;  // since start, counted by Warn
};

// Who has how much of the slots, at this moment and on average.
//
// Model:  S slots are shared. A budget with active share a and busy share b is *beyond* when one more would
// make
//         active + waiting exceed max(1, floor(a S)), or when busy > b S. `busy` is the exponentially
//         weighted average of `active` with the window w as time constant: busy(t + d) = active + (busy(t) -
//         active) exp(-d / w) while `active` stays, so it is exact whenever it is looked at.
// Use:    who is beyond may take a slot that is free and nobody waits for (so idle capacity is borrowed), and
// may
//         not wait for one. With S = 0, when slots are not limited, nobody is beyond.
// Thread: none of its own. Time comes from the caller and never goes back. Allocates in reconfigure() only.
class Budgets {
 public:
  using Time = std::chrono::nanoseconds;

  // The first BudgetParams with a name get its id; a name that goes keeps its counts and is Off.
  void reconfigure(std::span<const BudgetParams>, std::chrono::nanoseconds window);

  std::optional<BudgetId> find(std::string_view name) const noexcept;
  const std::string& name(BudgetId b) const noexcept { return at(b).state.params.name; }
  BudgetMode mode(BudgetId b) const noexcept { return at(b).state.params.mode; }
  bool beyond(BudgetId, std::int64_t slots, Time now) const noexcept;

  void change_active(BudgetId, int step, Time now);
  void change_waiting(BudgetId, int step);
  void count_refusal(BudgetId);  // in its mode's counter

  std::size_t size() const noexcept { return entries_.size(); }
  // In the order of their ids, those without a configuration too.
  std::vector<BudgetState> states(Time now) const;

 private:
  struct Entry {
    BudgetState state;  // busy as of `as_of`
    Time as_of{};
  };
  const Entry& at(BudgetId) const noexcept;
  Entry& at(BudgetId) noexcept;
  double busy(const Entry&, Time now) const noexcept;

  std::vector<Entry> entries_;
  std::chrono::nanoseconds window_{std::chrono::seconds(10)};
};

}  // namespace sluice::policy
