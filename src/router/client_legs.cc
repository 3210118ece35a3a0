#include "router/client_legs.h"

#include <algorithm>

namespace sluice::router {

void ClientLegs::add(const Batch& batch) {
  const std::lock_guard lock(mutex_);
  for (const auto& [host, reading] : batch)
    hosts_[host].add(reading);
}

ClientLegs::Legs ClientLegs::all() const {
  const std::lock_guard lock(mutex_);
  Legs legs;
  for (const auto& [host, estimator] : hosts_)
    legs.emplace(host, estimator.leg());
  return legs;
}

void ClientLegs::keep_only(const std::vector<std::string>& hosts) {
  const std::lock_guard lock(mutex_);
  std::erase_if(hosts_, [&](const auto& entry) {
    return std::find(hosts.begin(), hosts.end(), entry.first) == hosts.end();
  });
}

}  // namespace sluice::router
