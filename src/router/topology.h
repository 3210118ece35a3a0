#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/patroni.h"
#include "config/config.h"

namespace sluice::router {

// What was found out about where the servers are, beside what the file says.
struct Topology {
  std::optional<cluster::ClusterView> patroni;                // the last good answer
  std::map<std::string, std::vector<std::string>> addresses;  // of the hosts of replicas with discover: dns
  std::optional<std::string> primary;                         // by its name, where it has to be found
  bool primary_in_recovery = false;                           // the one that the file names

  const cluster::Member* member(std::string_view name) const noexcept;
};

// Where it has to be found out who the primary is: among several in the file, or by Patroni's word.
bool finds_primary(const config::Config& file);

// The configuration that holds now: replicas and primary are servers, each at its address. Pure.
// Shape:  replicas are those of the file in its order, one with discover: dns replaced by one for each
// address,
//         called NAME@ADDRESS, in the order of addresses; then the members of Patroni's cluster that the file
//         does not name, by name. One that both name has Patroni's address and the file's pool and weight; a
//         pool or weight that the file leaves open comes from its tags. Of equal names the first counts.
//         Without anything found out it is the file's configuration itself.
std::shared_ptr<const config::Config> effective_config(const std::shared_ptr<const config::Config>& file,
                                                       const Topology& topology);
// Whether sessions reach the same servers by both.
bool same_servers(const config::Config& a, const config::Config& b);
// Whether the one primary that a file names, or that it names none, is the same in both.
bool names_same_primary(const config::Config& a, const config::Config& b);

// Where a replica of the effective configuration comes from: "file", "dns" or "patroni".
std::string_view source_of(const config::Config& file, std::string_view replica);

}  // namespace sluice::router
