#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What the HTTP admin of router and placer says, as values. Pure.
namespace sluice::demo {

struct ObservedReplica {
  std::string name, role, pool;  // role: primary or replica; pool: empty for the primary
  bool borrowed = false, up = false;
  std::vector<std::int64_t> sessions;  // per class, in the order of the classes
};

// A replica that went from one pool to another.
struct RoleChange {
  std::int64_t number = 0;  // of the decision that caused it
  std::string time;         // hh:mm:ss
  std::string priority_class, replica, from, to;
  bool borrow = false;  // else a return
};

// Where the placer sends a route.
struct ObservedRoute {
  std::string route, host, policy;  // host: empty: nowhere
  std::optional<double> n_serial;   // as the router has observed it
};

// Each reads one page and throws std::exception where the page is not what it should be.
std::vector<ObservedReplica> read_replicas(std::string_view json, const std::vector<std::string>& classes);
// Changes of decisions numbered above `after`, oldest first; `after` becomes the highest number on the page.
std::vector<RoleChange> read_changes(std::string_view json, std::int64_t& after);
// Of the placer's overview: the configured routes, in their order.
std::vector<ObservedRoute> read_routes(std::string_view json);
// Of the placer's hosts: how many are up.
std::size_t count_hosts_up(std::string_view json);

}  // namespace sluice::demo
