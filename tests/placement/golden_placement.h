#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sluice/placement/policy.h"

namespace sluice::placement {

// The cases of tests/golden/placement.yaml, read into values. Hosts are A and B, in this order.

using GoldenHosts = std::vector<HostInputs>;

struct GoldenCase {
  std::string id, kind;  // kind: cost, choose, crossover, residual, n_serial
  GoldenHosts hosts;
  Policy policy = Policy::UserFirst;
  UpstreamConnection upstream = UpstreamConnection::Reused;
  std::size_t host = 0;                   // cost
  std::vector<double> n;                  // cost (one), choose
  std::vector<std::size_t> chosen;        // choose: expected
  std::optional<double> expected;         // cost, crossover (nullopt: none), residual
  double route = 0, health = 0, sql = 0;  // residual
  std::map<std::string, std::vector<std::string>>
      dependencies;  // n_serial: query -> queries that it waits for
};

// All cases; throws on a file it cannot read.
std::vector<GoldenCase> golden_cases();

}  // namespace sluice::placement
