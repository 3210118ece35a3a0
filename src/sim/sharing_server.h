#pragma once

#include "sim/server.h"
#include "sim/wait_queue.h"

namespace sluice::sim {

// Processor sharing: all jobs share `cores` evenly, none uses more than `cores_per_job`. A PostgreSQL
// replica; behind a limit of active queries it is a LimitedServer. Source: virtual time as in Parekh and
// Gallager, "A Generalized Processor Sharing Approach to Flow Control", IEEE/ACM Transactions on Networking
// 1(3), 1993: all active jobs gain attained service at the same rate, so a job's end stands fixed on that
// scale when it starts. Cost:  O(log n) per job.
class SharingServer final : public Server {
 public:
  struct Settings {
    double cores = 1;
    double cores_per_job = 1;
  };
  explicit SharingServer(const Settings& settings) noexcept;

  void arrive(double now, const Job&) override;
  double next_event() const noexcept override { return next_event_; }
  std::optional<Job> step() override;

  std::size_t job_count() const noexcept override { return active_.size(); }
  double unfinished_work(double now) const noexcept override;
  double work_done(double now) const noexcept override;

 private:
  double rate() const noexcept;  // at which each active job is served
  void advance(double now) noexcept;
  void plan() noexcept;

  Settings settings_;
  WaitQueue<Job> active_;  // by the attained service at which they end
  std::uint64_t started_ = 0;
  double now_ = 0;       // of the last change
  double attained_ = 0;  // by a job that has been active since the server was last idle
  double unfinished_ = 0, done_ = 0;
  double next_event_ = kNever;
};

}  // namespace sluice::sim
