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

  // Who logs in for sessions of a class.
  const std::string& user_of(std::size_t class_index) const {
    const std::string& user = class_users[class_index];
    return user.empty() ? server.user : user;
  }
};

}  // namespace sluice::bench
