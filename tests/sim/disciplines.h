#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sim/job_stream.h"
#include "sim/limited_server.h"
#include "sim/preemptive_server.h"

namespace sluice::sim {

// Everything that can serve, by name.
struct Discipline {
  std::string name;
  std::function<std::unique_ptr<Server>()> make;
};

inline std::vector<Discipline> disciplines() {
  const auto sharing = [](SharingServer::Settings settings) {
    return [settings]() -> std::unique_ptr<Server> { return std::make_unique<SharingServer>(settings); };
  };
  const auto limited = [](LimitedServer::Settings settings) {
    return [settings]() -> std::unique_ptr<Server> { return std::make_unique<LimitedServer>(settings); };
  };
  const auto preemptive = [](PreemptiveOrder order, double quantum) {
    return [=]() -> std::unique_ptr<Server> { return std::make_unique<PreemptiveServer>(order, quantum); };
  };
  return {
      {"fcfs", limited({.active_max = 1})},
      {"ps", sharing({})},
      {"ps on 4 cores", sharing({.cores = 4, .cores_per_job = 2})},
      {"limited ps", limited({.cores = 2, .cores_per_job = 1, .active_max = 3})},
      {"limited ps, by class", limited({.cores = 2, .active_max = 3, .classes = 3})},
      {"limited ps, shortest first",
       limited({.cores = 2, .active_max = 3, .order = policy::QueueDiscipline::ShortestFirst})},
      {"sita_e behind a router",
       limited({.active_max = 1, .replicas = 3, .within_pool = policy::ReplicaOrder::SitaE})},
      {"sita_v behind a router",
       limited({.active_max = 2, .replicas = 3, .within_pool = policy::ReplicaOrder::SitaV})},
      {"sjf behind a limit", limited({.active_max = 1, .order = policy::QueueDiscipline::ShortestFirst})},
      {"sjf", preemptive(PreemptiveOrder::ShortestSize, 1e6)},  // a chunk beyond any size: nothing interrupts
      {"priority", limited({.active_max = 1, .classes = 3})},
      {"srpt", preemptive(PreemptiveOrder::ShortestRemaining, 0)},
      {"scf", preemptive(PreemptiveOrder::ShortestRemaining, 0.5)},
      {"psjf", preemptive(PreemptiveOrder::ShortestSize, 0)},
      {"preemptive priority", preemptive(PreemptiveOrder::Priority, 0)}};
}

inline std::unique_ptr<Server> discipline(const std::string& name) {
  for (const Discipline& d : disciplines())
    if (d.name == name) return d.make();
  return nullptr;
}

// One server, one stream.
inline StreamOutcome run_one(const JobStream& stream, std::unique_ptr<Server> server,
                             const Visit& visit = {}) {
  std::vector<std::unique_ptr<Server>> servers;
  servers.push_back(std::move(server));
  RandomDispatcher only(1);
  return run(stream, servers, only, visit);
}

}  // namespace sluice::sim
