#include "tests/placement/golden_placement.h"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

#include <yaml-cpp/yaml.h>

namespace sluice::placement {
namespace {

std::optional<Millis> millis(const YAML::Node& node) {
  if (!node) return std::nullopt;
  return Millis(node.as<double>());
}

// route0 is the published sweep's base: profiled is then route0 + N x sql, that is, a residual of route0 -
// path.
HostInputs parse_host(const YAML::Node& node) {
  HostInputs host;
  host.path = millis(node["path"]);
  host.sql = millis(node["sql"]);
  host.client = millis(node["rtt"]);
  host.connect = millis(node["connect"]);
  host.residual = millis(node["residual"]);
  if (node["route0"]) host.residual = *millis(node["route0"]) - *host.path;
  return host;
}

Policy parse_policy(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  for (const Policy policy : kPolicies)
    if (policy_name(policy) == name) return policy;
  throw std::runtime_error("no such policy: " + name);
}

std::size_t host_index(const YAML::Node& node) {
  return node.as<std::string>() == "A" ? 0 : 1;
}

GoldenCase parse_case(const YAML::Node& node, const YAML::Node& all_hosts) {
  GoldenCase c;
  c.id = node["id"].as<std::string>();
  c.kind = node["kind"].as<std::string>();
  if (node["hosts"])
    for (const char* name : {"A", "B"})
      c.hosts.push_back(parse_host(all_hosts[node["hosts"].as<std::string>()][name]));
  if (!c.hosts.empty() && c.hosts.front().connect) c.upstream = UpstreamConnection::PerRequest;
  if (node["policy"]) c.policy = parse_policy(node["policy"].as<std::string>());
  if (node["host"]) c.host = host_index(node["host"]);
  if (node["n"] && node["n"].IsSequence()) c.n = node["n"].as<std::vector<double>>();
  if (node["n"] && node["n"].IsScalar()) c.n = {node["n"].as<double>()};
  const YAML::Node expect = node["expect"];
  if (expect.IsScalar()) c.expected = expect.as<double>();
  if (expect.IsSequence())
    for (const YAML::Node& host : expect)
      c.chosen.push_back(host_index(host));
  c.route = node["route"].as<double>(0);
  c.health = node["health"].as<double>(0);
  c.sql = node["sql"].as<double>(0);
  for (const auto& entry : node["deps"])
    c.dependencies[entry.first.as<std::string>()] = entry.second.as<std::vector<std::string>>();
  return c;
}

}  // namespace

std::vector<GoldenCase> golden_cases() {
  const char* root = std::getenv("SLUICE_SOURCE_DIR");
  if (root == nullptr) throw std::runtime_error("SLUICE_SOURCE_DIR is not set; run the test through ctest");
  const YAML::Node file = YAML::LoadFile(std::string(root) + "/tests/golden/placement.yaml");
  std::vector<GoldenCase> cases;
  for (const YAML::Node& node : file["placement_cases"])
    cases.push_back(parse_case(node, file["hosts"]));
  return cases;
}

}  // namespace sluice::placement
