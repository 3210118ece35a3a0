#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/policy/assignment.h"

#include "router/ids.h"

namespace sluice::router {

// Who a session is for, as far as limits, policy and the console care.
struct SessionTag {
  SessionId id;
  std::string user;
  std::string database;
  policy::ClassId priority;
  std::string host;  // origin host, "" if unknown
};

// From a host to each replica and back, by ReplicaId; 0 is not known.
using RoundTrips = std::map<std::string, std::vector<std::chrono::nanoseconds>, std::less<>>;

// How many sessions may be open; 0 means no limit.
struct SessionLimits {
  std::size_t total = 0;                                               // max_client_conn
  std::size_t per_user = 0;                                            // max_user_client_connections
  std::function<std::size_t(std::string_view database)> per_database;  // of the entry, else the general one
  std::map<std::string, std::size_t, std::less<>> per_class;           // by the class's name
};

// A decision with what it was taken for, kept for the console.
struct DecisionRecord {
  std::uint64_t number = 0;
  std::chrono::system_clock::time_point time;
  SessionTag tag;
  std::optional<policy::ReplicaId> replica;  // none when refused
  policy::Outcome outcome = policy::Outcome::Refused;
  policy::Evidence evidence;
  std::vector<policy::RoleChange> changes;
};

// The only state that all sessions share: pools, loads and limits, under one short mutex that is taken when a
// session begins, is assigned, and ends. Any thread.
class Admission {
 public:
  static constexpr std::size_t kDecisionsKept = 1000;

  explicit Admission(const policy::PoolConfig& pools, SessionLimits limits);

  // Counts a session, or names the limit that it would exceed: an option's name.
  std::optional<std::string> enter(const SessionTag& tag);
  void leave(const SessionTag& tag);

  struct Granted {
    policy::ReplicaId replica;
    policy::ClassId counted_in;  // for close()
    policy::Outcome outcome;
    policy::PoolId pool = policy::PoolId::mixed();  // the replica's, after the decision
    std::vector<policy::RoleChange> changes;        // that the decision made
  };
  // Assigns a replica and counts the session there; nullopt when no live replica is left beside `excluded`.
  std::optional<Granted> admit(const SessionTag& tag, policy::ReplicaSet excluded);
  void close(policy::ReplicaId replica, policy::ClassId counted_in);

  void set_up(policy::ReplicaId replica, bool up);
  // False when no replica of the configuration has that name.
  bool set_draining(std::string_view replica, bool draining);
  bool draining(policy::ReplicaId replica) const;
  // The number that a replica has now and will keep; nullopt for an unknown name.
  std::optional<policy::ReplicaId> find_replica(std::string_view name) const;
  std::optional<policy::ClassId> find_class(std::string_view name) const;
  void reconfigure(const policy::PoolConfig& pools, SessionLimits limits);
  // By the host's name, for the order in which near replicas come first.
  void set_round_trips(RoundTrips round_trips);

  policy::Snapshot snapshot() const;
  std::vector<DecisionRecord> decisions() const;  // oldest first
  bool any_live() const;
  std::size_t session_count() const;
  std::map<std::string, std::size_t, std::less<>> sessions_by_host() const;

 private:
  void set_limits(SessionLimits limits);

  using Counts = std::map<std::string, std::size_t, std::less<>>;

  mutable std::mutex mutex_;
  policy::Assignment assignment_;
  RoundTrips round_trips_;
  SessionLimits limits_;
  std::map<policy::ClassId, std::size_t> class_limits_;
  std::size_t total_ = 0;
  Counts by_user_;
  Counts by_database_;
  Counts by_host_;
  std::map<policy::ClassId, std::size_t> by_class_;
  std::deque<DecisionRecord> decisions_;
  std::uint64_t decision_number_ = 0;
};

}  // namespace sluice::router
