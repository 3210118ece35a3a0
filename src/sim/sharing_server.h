#pragma once

#include "sim/server.h"
#include "sim/wait_queue.h"

namespace sluice::sim {

enum class QueueOrder {
  Fcfs,           // first come, first served
  ShortestFirst,  // least size
  Priority,       // least rank, and first come among equals
};

// Processor sharing with a limit: up to `active_max` jobs share `cores` evenly, none uses more than
// `cores_per_job`; further ones wait in a queue. A PostgreSQL replica behind a limit on active queries. With
// active_max 1 and one core it is the plain queue of its order, not preemptive; without a limit processor
// sharing. Source: virtual time as in Parekh and Gallager, "A Generalized Processor Sharing Approach to Flow
// Control", IEEE/ACM Transactions on Networking 1(3), 1993: all active jobs gain attained service at the same
// rate, so a job's end stands fixed on that scale when it starts. Cost:  O(log n) per job.
class SharingServer final : public Server {
 public:
  static constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();

  struct Settings {
    double cores = 1;
    double cores_per_job = 1;
    std::size_t active_max = kUnlimited;
    QueueOrder order = QueueOrder::Fcfs;
  };
  explicit SharingServer(const Settings& settings) noexcept;

  void arrive(double now, const Job&) override;
  double next_event() const noexcept override { return next_event_; }
  std::optional<Job> step() override;

  std::size_t job_count() const noexcept override { return active_.size() + waiting_.size(); }
  std::size_t active_count() const noexcept { return active_.size(); }
  double unfinished_work(double now) const noexcept override;
  double work_done(double now) const noexcept override;

 private:
  double rate() const noexcept;  // at which each active job is served
  void advance(double now) noexcept;
  void start(const Job&);
  void plan() noexcept;

  Settings settings_;
  WaitQueue<Job> active_;   // by the attained service at which they end
  WaitQueue<Job> waiting_;  // in the order of service
  std::uint64_t started_ = 0, queued_ = 0;
  double now_ = 0;       // of the last change
  double attained_ = 0;  // by a job that has been active since the server was last idle
  double unfinished_ = 0, done_ = 0;
  double next_event_ = kNever;
};

}  // namespace sluice::sim
