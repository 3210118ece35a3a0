#include "sim/limited_server.h"

#include <algorithm>
#include <string>

#include "base/assert.h"

namespace sluice::sim {
namespace {

policy::PoolConfig config_of(const LimitedServer::Settings& settings) {
  SLUICE_ASSERT(settings.active_max >= 1 && settings.replicas >= 1 && settings.classes >= 1 &&
                settings.classes <= policy::kClassCountMax);
  policy::PoolConfig config;
  config.policy = policy::PolicyKind::LeastLoaded;
  config.order = settings.within_pool;
  for (std::size_t c = 0; c < settings.classes; ++c)
    config.classes.emplace_back().name = std::to_string(c);
  for (std::size_t r = 0; r < settings.replicas; ++r) {
    policy::ReplicaConfig& replica = config.replicas.emplace_back();
    replica.name = std::to_string(r);
    if (settings.active_max != LimitedServer::kUnlimited)
      replica.max_active = static_cast<std::int64_t>(settings.active_max);
  }
  return config;
}

}  // namespace

LimitedServer::LimitedServer(const Settings& settings)
    : classes_(settings.classes),
      group_(config_of(settings), {.cores = settings.cores,
                                   .cores_per_query = settings.cores_per_job,
                                   .queue = {.discipline = settings.order}}) {}

void LimitedServer::start(double now, ReplicaGroup::Guest& guest, const Job& job) {
  const bool is_new = active_.emplace(job.id, &guest).second;
  SLUICE_ASSERT(is_new);
  group_.serve(now, guest, job);
}

void LimitedServer::arrive(double now, const Job& job) {
  SLUICE_ASSERT(job.size > 0);
  const auto rank = static_cast<std::uint32_t>(std::min<std::size_t>(job.rank, classes_ - 1));
  const auto [answer, guest] = group_.ask(now, job.id, policy::ClassId(rank), job);
  SLUICE_ASSERT(answer != ReplicaGroup::Answer::Refused);
  if (answer == ReplicaGroup::Answer::Granted)
    start(now, *guest, job);
  else
    waiting_work_ += job.size;
  start_granted(now);  // it may have moved the sizes that replicas take
}

void LimitedServer::start_granted(double now) {
  for (ReplicaGroup::Guest* const granted : group_.take_granted()) {
    waiting_work_ -= granted->waiting_for.size;
    start(now, *granted, granted->waiting_for);
  }
  if (group_.waiting() == 0) waiting_work_ = 0;  // errors of rounding end with each queue
}

std::optional<Job> LimitedServer::step() {
  const double now = next_event();
  const Job ended = group_.step();
  const auto found = active_.find(ended.id);
  ReplicaGroup::Guest& guest = *found->second;
  active_.erase(found);
  group_.leave(now, guest);
  start_granted(now);
  return ended;
}

double LimitedServer::unfinished_work(double now) const noexcept {
  double work = waiting_work_;
  for (std::size_t r = 0; r < group_.replica_count(); ++r)
    work += group_.replica(r).unfinished_work(now);
  return work;
}

double LimitedServer::work_done(double now) const noexcept {
  double work = 0;
  for (std::size_t r = 0; r < group_.replica_count(); ++r)
    work += group_.replica(r).work_done(now);
  return work;
}

std::optional<policy::ReplicaId> LimitedServer::replica_of(std::uint32_t job) const {
  const auto found = active_.find(job);
  if (found == active_.end()) return std::nullopt;
  return found->second->replica;
}

}  // namespace sluice::sim
