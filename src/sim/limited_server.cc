#include "sim/limited_server.h"

#include <algorithm>
#include <string>

#include "base/assert.h"

namespace sluice::sim {
namespace {

policy::PoolConfig one_replica(const LimitedServer::Settings& settings) {
  SLUICE_ASSERT(settings.active_max >= 1 && settings.classes >= 1 &&
                settings.classes <= policy::kClassCountMax);
  policy::PoolConfig config;
  config.policy = policy::PolicyKind::RoundRobin;
  for (std::size_t c = 0; c < settings.classes; ++c)
    config.classes.emplace_back().name = std::to_string(c);
  policy::ReplicaConfig& replica = config.replicas.emplace_back();
  replica.name = "only";
  if (settings.active_max != LimitedServer::kUnlimited)
    replica.max_active = static_cast<std::int64_t>(settings.active_max);
  return config;
}

}  // namespace

LimitedServer::LimitedServer(const Settings& settings)
    : classes_(settings.classes),
      group_(one_replica(settings), {.cores = settings.cores,
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
}

std::optional<Job> LimitedServer::step() {
  const double now = next_event();
  const Job ended = group_.step();
  const auto found = active_.find(ended.id);
  ReplicaGroup::Guest& guest = *found->second;
  active_.erase(found);
  group_.leave(now, guest);
  for (ReplicaGroup::Guest* const granted : group_.take_granted()) {
    waiting_work_ -= granted->waiting_for.size;
    start(now, *granted, granted->waiting_for);
  }
  if (group_.waiting() == 0) waiting_work_ = 0;  // errors of rounding end with each queue
  return ended;
}

double LimitedServer::unfinished_work(double now) const noexcept {
  return server().unfinished_work(now) + waiting_work_;
}

}  // namespace sluice::sim
