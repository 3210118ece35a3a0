#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <unordered_map>

#include "sim/replica_group.h"

namespace sluice::sim {

// One replica behind `max_active`: up to so many jobs share its cores, and the others wait in the router's
// own queue, by class and then as they came, or the smallest first. With active_max 1 and one core it is
// first come, first served, or shortest first; with several classes priority; all without preemption. Or
// several such replicas behind one router, which gives each job the least loaded or the one for its size:
// sizes are expected as they are.
class LimitedServer final : public Server {
 public:
  static constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();

  struct Settings {
    double cores = 1;
    double cores_per_job = 1;
    std::size_t active_max = kUnlimited;
    policy::QueueDiscipline order = policy::QueueDiscipline::Fcfs;  // within a class
    std::size_t classes = 1;  // a job is of the class of its rank, of the last where there is none
    std::size_t replicas = 1;
    policy::ReplicaOrder within_pool = policy::ReplicaOrder::LeastLoaded;
  };
  explicit LimitedServer(const Settings&);

  void arrive(double now, const Job&) override;
  double next_event() const noexcept override { return group_.next_event(); }
  std::optional<Job> step() override;

  std::size_t job_count() const noexcept override { return group_.guest_count(); }
  std::size_t active_count() const noexcept { return active_.size(); }
  double unfinished_work(double now) const noexcept override;
  double work_done(double now) const noexcept override;

  const policy::Assignment& assignment() const noexcept { return group_.assignment(); }
  // Of a job, by its id; nullopt while it waits.
  std::optional<policy::ReplicaId> replica_of(std::uint32_t job) const;

 private:
  void start(double now, ReplicaGroup::Guest&, const Job&);
  void start_granted(double now);

  std::size_t classes_;
  ReplicaGroup group_;
  std::unordered_map<std::uint32_t, ReplicaGroup::Guest*> active_;  // by the job's id
  double waiting_work_ = 0;
};

}  // namespace sluice::sim
