#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "bench/query_stream.h"
#include "bench/replica_spec.h"
#include "bench/run_info.h"
#include "bench/workload.h"
#include "pgclient/client.h"

namespace sluice::bench {

// All that one run needs to know.
struct RunOptions {
  RunKey key;
  Workload workload;
  Think think;
  pgclient::ConnectParams server;
  std::array<std::string, kClassCount> class_names = {"premium", "freemium"};
  // Users that stand for the classes; "": the class is asked for with sluice.priority.
  std::array<std::string, kClassCount> class_users;
  std::vector<ReplicaSpec> replicas;
  std::filesystem::path output;
};

}  // namespace sluice::bench
