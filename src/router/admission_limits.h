#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/policy/admission_queue.h"
#include "sluice/policy/budgets.h"

namespace sluice::router {

// How many sessions may be open, slots taken and requests waiting; 0 means no limit. The replicas' own limits
// are in policy::PoolConfig.
struct AdmissionLimits {
  using ByName = std::map<std::string, std::size_t, std::less<>>;
  using OfDatabase = std::function<std::size_t(std::string_view database)>;

  // Sessions.
  std::size_t total = 0;     // max_client_conn
  std::size_t per_user = 0;  // max_user_client_connections
  OfDatabase per_database;   // of the entry, else the general one
  std::size_t per_host = 0;  // max_host_client_connections
  ByName of_host;            // by the origin host's name, instead of per_host
  ByName of_class;           // by the class's name

  // Slots taken, of all servers together.
  std::size_t servers_total = 0;     // max_total_active
  std::size_t servers_per_user = 0;  // max_user_connections
  OfDatabase servers_per_database;   // max_db_connections: of the entry, else the general one
  ByName servers_of_host;            // by the origin host's name
  ByName servers_of_class;           // by the class's name
  // max_active of the primary, 0 being no limit; none: there is no primary.
  std::optional<std::size_t> primary_active{};

  // Requests that wait.
  std::size_t waiting = 0;            // max_waiting
  ByName waiting_of_class;            // by the class's name
  std::chrono::nanoseconds ageing{};  // queue_ageing
  policy::QueueDiscipline discipline = policy::QueueDiscipline::Fcfs;

  std::vector<policy::BudgetParams> budgets;
  std::chrono::nanoseconds budget_window = std::chrono::seconds(10);
};

}  // namespace sluice::router
