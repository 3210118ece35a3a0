#include "sim/dispatcher.h"

#include "sluice/stats/sita.h"

#include "base/assert.h"

namespace sluice::sim {
namespace {

policy::PoolConfig one_class(policy::PolicyKind kind, std::size_t servers) {
  policy::PoolConfig config;
  config.policy = kind;
  config.classes.push_back({"jobs", policy::kParameterMax, *Ratio::parse("1"), 0, 0});
  for (std::size_t i = 0; i < servers; ++i)
    config.replicas.push_back({"s" + std::to_string(i), std::nullopt});
  return config;
}

}  // namespace

std::size_t RandomDispatcher::choose(double, const Job&, Servers servers) {
  return static_cast<std::size_t>(rng_.below(servers.size()));
}

std::size_t LeastWorkDispatcher::choose(double now, const Job&, Servers servers) {
  std::size_t best = 0;
  double least = kNever;
  for (std::size_t i = 0; i < servers.size(); ++i) {
    const double work = servers[i]->unfinished_work(now);
    if (!(work < least)) continue;
    least = work;
    best = i;
  }
  return best;
}

std::size_t SitaDispatcher::choose(double, const Job& job, Servers servers) {
  SLUICE_ASSERT(cutoffs_.size() + 1 == servers.size());
  return stats::sita_host(cutoffs_, job.size);
}

PolicyDispatcher::PolicyDispatcher(policy::PolicyKind kind, std::size_t servers)
    : assignment_(one_class(kind, servers)) {}

std::size_t PolicyDispatcher::choose(double, const Job&, Servers) {
  return assignment_.admit({policy::ClassId(0), "", std::nullopt}).replica.value();
}

void PolicyDispatcher::ended(std::size_t server) {
  assignment_.close(policy::ReplicaId(static_cast<std::uint32_t>(server)), policy::ClassId(0));
}

}  // namespace sluice::sim
