#include "router/admission.h"

#include <algorithm>
#include <utility>

namespace sluice::router {
namespace {

template <class Map, class Key>
std::size_t count_of(const Map& counts, const Key& key) {
  const auto found = counts.find(key);
  return found == counts.end() ? 0 : found->second;
}

// Entries go when their last session does, so that the maps stay as small as what is open.
template <class Map, class Key>
void take_one(Map& counts, const Key& key) {
  const auto found = counts.find(key);
  SLUICE_ASSERT(found != counts.end());
  if (--found->second == 0) counts.erase(found);
}

bool reached(std::size_t count, std::size_t limit) {
  return limit > 0 && count >= limit;
}

}  // namespace

Admission::Admission(const policy::PoolConfig& pools, SessionLimits limits) : assignment_(pools) {
  set_limits(std::move(limits));
}

void Admission::set_limits(SessionLimits limits) {
  limits_ = std::move(limits);
  class_limits_.clear();
  for (const auto& [name, limit] : limits_.per_class)
    if (const auto id = assignment_.find_class(name)) class_limits_.emplace(*id, limit);
}

std::optional<std::string> Admission::enter(const SessionTag& tag) {
  const std::lock_guard lock(mutex_);
  if (reached(total_, limits_.total)) return "max_client_conn";
  if (reached(count_of(by_user_, tag.user), limits_.per_user)) return "max_user_client_connections";
  if (limits_.per_database &&
      reached(count_of(by_database_, tag.database), limits_.per_database(tag.database)))
    return "max_db_client_connections";
  if (reached(count_of(by_class_, tag.priority), count_of(class_limits_, tag.priority)))
    return "max_sessions of class " + assignment_.pools().name(tag.priority);
  ++total_;
  ++by_user_[tag.user];
  ++by_database_[tag.database];
  ++by_host_[tag.host];
  ++by_class_[tag.priority];
  return std::nullopt;
}

void Admission::leave(const SessionTag& tag) {
  const std::lock_guard lock(mutex_);
  --total_;
  take_one(by_user_, tag.user);
  take_one(by_database_, tag.database);
  take_one(by_host_, tag.host);
  take_one(by_class_, tag.priority);
}

std::optional<Admission::Granted> Admission::admit(const SessionTag& tag, policy::ReplicaSet excluded) {
  DecisionRecord record;
  record.time = std::chrono::system_clock::now();
  record.tag = tag;
  const std::lock_guard lock(mutex_);
  policy::Arrival arrival{tag.priority, tag.host, std::nullopt};
  if (const auto known = round_trips_.find(tag.host); known != round_trips_.end())
    arrival.round_trips = known->second;
  const policy::Decision decision = assignment_.admit(arrival, excluded);
  record.number = ++decision_number_;
  record.outcome = decision.outcome;
  record.evidence = decision.evidence;
  record.changes.assign(decision.changes.begin(), decision.changes.end());
  std::optional<Granted> granted;
  if (decision.outcome != policy::Outcome::Refused) {
    record.replica = decision.replica;
    granted = Granted{decision.replica, decision.counted_in, decision.outcome,
                      assignment_.pools().pool(decision.replica), record.changes};
  }
  decisions_.push_back(std::move(record));
  if (decisions_.size() > kDecisionsKept) decisions_.pop_front();
  return granted;
}

void Admission::close(policy::ReplicaId replica, policy::ClassId counted_in) {
  const std::lock_guard lock(mutex_);
  assignment_.close(replica, counted_in);
}

void Admission::set_up(policy::ReplicaId replica, bool up) {
  const std::lock_guard lock(mutex_);
  assignment_.set_up(replica, up);
}

bool Admission::set_draining(std::string_view replica, bool draining) {
  const std::lock_guard lock(mutex_);
  const auto id = assignment_.find_replica(replica);
  if (!id || !assignment_.pools().configured(*id)) return false;
  assignment_.set_draining(*id, draining);
  return true;
}

bool Admission::draining(policy::ReplicaId replica) const {
  const std::lock_guard lock(mutex_);
  return assignment_.pools().draining(replica);
}

std::optional<policy::ReplicaId> Admission::find_replica(std::string_view name) const {
  const std::lock_guard lock(mutex_);
  return assignment_.find_replica(name);
}

std::optional<policy::ClassId> Admission::find_class(std::string_view name) const {
  const std::lock_guard lock(mutex_);
  return assignment_.find_class(name);
}

void Admission::reconfigure(const policy::PoolConfig& pools, SessionLimits limits) {
  const std::lock_guard lock(mutex_);
  assignment_.reconfigure(pools);
  set_limits(std::move(limits));
}

void Admission::set_round_trips(RoundTrips round_trips) {
  const std::lock_guard lock(mutex_);
  round_trips_.swap(round_trips);
}

policy::Snapshot Admission::snapshot() const {
  const std::lock_guard lock(mutex_);
  return assignment_.snapshot();
}

std::vector<DecisionRecord> Admission::decisions() const {
  const std::lock_guard lock(mutex_);
  return {decisions_.begin(), decisions_.end()};
}

bool Admission::any_live() const {
  const std::lock_guard lock(mutex_);
  const policy::Pools& pools = assignment_.pools();
  const auto all = pools.replicas();
  return std::any_of(all.begin(), all.end(), [&](policy::ReplicaId r) { return pools.live(r); });
}

std::size_t Admission::session_count() const {
  const std::lock_guard lock(mutex_);
  return total_;
}

std::map<std::string, std::size_t, std::less<>> Admission::sessions_by_host() const {
  const std::lock_guard lock(mutex_);
  return by_host_;
}

}  // namespace sluice::router
