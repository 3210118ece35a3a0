#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// What the router's HTTP admin says, as values. Pure.
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

// Each reads one page and throws std::exception where the page is not what it should be.
std::vector<ObservedReplica> read_replicas(std::string_view json, const std::vector<std::string>& classes);
// Changes of decisions numbered above `after`, oldest first; `after` becomes the highest number on the page.
std::vector<RoleChange> read_changes(std::string_view json, std::int64_t& after);

}  // namespace sluice::demo
