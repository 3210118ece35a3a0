#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace sluice::bench {

// Whose processor time is a replica's.
struct CgroupSource {
  std::string path;  // a cgroup's folder, version 1 or 2
  friend bool operator==(const CgroupSource&, const CgroupSource&) = default;
};
struct ProcessSource {
  int pid = 0;  // of a postmaster on this machine
  friend bool operator==(const ProcessSource&, const ProcessSource&) = default;
};
using CpuSource = std::variant<std::monostate, CgroupSource, ProcessSource>;

struct ReplicaSpec {
  std::string name;
  std::string address;  // HOST:PORT as the server itself knows it
  CpuSource cpu;
  double cores = 0;  // what utilization 1 is; 0: the cgroup's quota, else all processors

  // NAME=HOST:PORT[,cgroup:PATH|,pid:PID][,cores:N]. "localhost" is 127.0.0.1. nullopt: not of the form.
  static std::optional<ReplicaSpec> parse(std::string_view text);
};

// The name of the replica that says of itself `address`; the address where none has it. A server on a Unix
// socket knows its port alone: a replica with that port is it when there is only one.
std::string replica_name(const std::vector<ReplicaSpec>& replicas, const std::string& address);

}  // namespace sluice::bench
