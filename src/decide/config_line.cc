#include "decide/config_line.h"

#include <nlohmann/json.hpp>

namespace sluice::decide {

std::string config_line(const policy::PoolConfig& config) {
  using Json = nlohmann::ordered_json;
  Json line;
  line["op"] = "config";
  line["policy"] = policy::policy_name(config.policy);
  line["classes"] = Json::array();
  for (const policy::ClassParams& c : config.classes) {
    Json& entry = line["classes"].emplace_back();
    entry["name"] = c.name;
    entry["saturation"] = c.saturation;
    entry["return_ratio"] = c.return_ratio.to_string();
    entry["floor"] = c.floor;
    entry["target"] = c.target;
    entry["weight"] = c.weight.to_string();
  }
  line["replicas"] = Json::array();
  Json pools = Json::object();
  for (const policy::ReplicaConfig& r : config.replicas) {
    if (r.pool) pools[*r.pool].push_back(r.name);
    if (r.weight == 1 && r.max_active == 0) {
      line["replicas"].push_back(r.name);
      continue;
    }
    Json& entry = line["replicas"].emplace_back();
    entry["name"] = r.name;
    entry["weight"] = r.weight;
    entry["max_active"] = r.max_active;
  }
  if (!pools.empty()) line["pools"] = std::move(pools);
  line["seed"] = config.seed;
  line["order"] = policy::order_name(config.order);
  line["nearest_slack"] = config.nearest_slack;
  // Names from a file may be in no valid encoding.
  return line.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace sluice::decide
