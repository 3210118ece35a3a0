#pragma once

#include <vector>

#include "admin/router_view.h"
#include "router/router.h"

namespace sluice::router {

// What SHOW CLUSTER shows: the primary, each source of servers, each member that Patroni tells of.
std::vector<admin::ClusterRow> cluster_rows(const ClusterFacts& facts,
                                            std::chrono::steady_clock::time_point now);
// What SHOW DNS_HOSTS shows.
std::vector<admin::NameRow> name_rows(const ClusterFacts& facts, std::chrono::steady_clock::time_point now);
// What configuration and cluster say of a replica, or of the primary, beside its health.
void fill_member(admin::ReplicaRow& row, const Snapshot& snapshot, const ClusterFacts& facts);

}  // namespace sluice::router
