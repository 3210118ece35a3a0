#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/health.h"

namespace sluice::cluster {

// What a member does, by Patroni's word for its role.
enum class MemberRole {
  Leader,         // "leader", "primary" or "master": the one that takes writes
  StandbyLeader,  // "standby_leader": first of a standby cluster, itself in recovery
  Replica,        // "replica", "sync_standby", "quorum_standby", and words of the future
};

struct Member {
  std::string name;
  std::string host;
  std::uint16_t port = 5432;
  MemberRole role = MemberRole::Replica;
  std::string role_word, state;  // as Patroni says them
  std::optional<std::uint32_t> timeline;
  std::optional<std::uint64_t> lag_bytes;  // empty: unknown, or the leader
  bool noloadbalance = false;
  std::string pool;          // tag sluice_pool; "": none
  std::uint32_t weight = 0;  // tag sluice_weight; 0: none
  std::string tags;          // all of them, "clonefrom=true nosync=true"

  bool running() const noexcept;
  // Why it takes no read sessions, None if it may.
  DownReason bar() const noexcept;
  friend bool operator==(const Member&, const Member&) = default;
};

struct ClusterView {
  std::vector<Member> members;  // by name, ascending; names are unique

  // The one running leader. Nullptr without one, and with two.
  const Member* leader() const noexcept;
  const Member* find(std::string_view name) const noexcept;
  friend bool operator==(const ClusterView&, const ClusterView&) = default;
};

// Answer of `GET /cluster` of Patroni's REST API ("Patroni REST API", "Cluster status endpoints").
// Shape:  at most kMembersMax members; unknown keys are passed over; what has not the right type counts as
//         missing. A member without an address yet (it is being made) is left out. One whose name cannot be
//         that of a server here, or that comes twice, makes the answer unusable.
// Errors: nullopt with a sentence in `problem`. Pure; any bytes may come.
inline constexpr std::size_t kMembersMax = 256;
std::optional<ClusterView> parse_cluster(std::string_view json, std::string& problem);

}  // namespace sluice::cluster
