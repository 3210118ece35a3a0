// What was decided lately, for those who look on.

#include <algorithm>
#include <mutex>

#include "router/admission.h"

namespace sluice::router {

void Admission::record(const SessionTag& tag, const policy::Decision& decision) {
  const std::size_t place = decision_number_++ % kDecisionsKept;
  DecisionRecord& record = place < decisions_.size() ? decisions_[place] : decisions_.emplace_back();
  record.number = decision_number_;
  record.time = std::chrono::system_clock::now();
  record.tag = tag;
  record.tag.usages = {};
  record.replica.reset();
  if (decision.outcome != policy::Outcome::Refused) record.replica = decision.replica;
  record.outcome = decision.outcome;
  record.evidence = decision.evidence;
  record.changes.assign(decision.changes.begin(), decision.changes.end());
  for (const policy::RoleChange& change : decision.changes)
    role_changes_.push_back({++role_change_number_, record.time, tag.priority, change});
  while (role_changes_.size() > kRoleChangesKept)
    role_changes_.pop_front();
}

std::vector<DecisionRecord> Admission::decisions(std::size_t most) const {
  const std::lock_guard lock(mutex_);
  std::vector<DecisionRecord> newest;
  const std::uint64_t wanted = std::min<std::uint64_t>(most, decisions_.size());
  newest.reserve(wanted);
  for (std::uint64_t number = decision_number_ - wanted; number < decision_number_; ++number)
    newest.push_back(decisions_[number % kDecisionsKept]);
  return newest;
}

std::vector<RoleChangeRecord> Admission::role_changes(std::size_t most) const {
  const auto since = std::chrono::system_clock::now() - kRoleChangeAgeMax;
  const std::lock_guard lock(mutex_);
  const auto first =
      std::find_if(role_changes_.end() - static_cast<std::ptrdiff_t>(std::min(most, role_changes_.size())),
                   role_changes_.end(), [&](const RoleChangeRecord& record) { return record.time >= since; });
  return {first, role_changes_.end()};
}

}  // namespace sluice::router
