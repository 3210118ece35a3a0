#include "sluice/policy/budgets.h"

#include <algorithm>
#include <cmath>

#include "base/assert.h"

namespace sluice::policy {

const Budgets::Entry& Budgets::at(BudgetId b) const noexcept {
  SLUICE_ASSERT(b.value() < entries_.size());
  return entries_[b.value()];
}

Budgets::Entry& Budgets::at(BudgetId b) noexcept {
  SLUICE_ASSERT(b.value() < entries_.size());
  return entries_[b.value()];
}

void Budgets::reconfigure(std::span<const BudgetParams> configured, std::chrono::nanoseconds window) {
  SLUICE_ASSERT(window.count() > 0);
  window_ = window;
  for (Entry& entry : entries_)
    entry.state.params.mode = BudgetMode::Off;
  for (const BudgetParams& params : configured) {
    const auto known = find(params.name);
    (known ? at(*known) : entries_.emplace_back()).state.params = params;
  }
}

std::optional<BudgetId> Budgets::find(std::string_view name) const noexcept {
  for (std::size_t i = 0; i < entries_.size(); ++i)
    if (entries_[i].state.params.name == name) return BudgetId(static_cast<std::uint32_t>(i));
  return std::nullopt;
}

double Budgets::busy(const Entry& entry, Time now) const noexcept {
  const auto active = static_cast<double>(entry.state.active);
  const double elapsed = std::chrono::duration<double>(now - entry.as_of) / window_;
  return active + (entry.state.busy - active) * std::exp(-std::max(0.0, elapsed));
}

bool Budgets::beyond(BudgetId b, std::int64_t slots, Time now) const noexcept {
  const Entry& entry = at(b);
  const BudgetParams& params = entry.state.params;
  if (params.mode == BudgetMode::Off || slots <= 0) return false;
  if (params.active_share > Ratio()) {
    const std::int64_t share = std::max<std::int64_t>(1, params.active_share.floor_of(slots));
    if (entry.state.active + entry.state.waiting >= share) return true;
  }
  if (params.busy_share > Ratio()) {
    // In double: an average has no exact value to compare with.
    const double share = static_cast<double>(params.busy_share.floor_of(Ratio::kUnit)) /
                         static_cast<double>(Ratio::kUnit) * static_cast<double>(slots);
    if (busy(entry, now) > share) return true;
  }
  return false;
}

void Budgets::change_active(BudgetId b, int step, Time now) {
  Entry& entry = at(b);
  entry.state.busy = busy(entry, now);
  entry.as_of = std::max(entry.as_of, now);
  entry.state.active += step;
  SLUICE_ASSERT(entry.state.active >= 0);
}

void Budgets::change_waiting(BudgetId b, int step) {
  at(b).state.waiting += step;
  SLUICE_ASSERT(at(b).state.waiting >= 0);
}

void Budgets::count_refusal(BudgetId b) {
  BudgetState& state = at(b).state;
  ++(state.params.mode == BudgetMode::Enforce ? state.refused : state.would_be_refused);
}

std::vector<BudgetState> Budgets::states(Time now) const {
  std::vector<BudgetState> all;
  for (const Entry& entry : entries_) {
    all.push_back(entry.state);
    all.back().busy = busy(entry, now);
  }
  return all;
}

}  // namespace sluice::policy
