#pragma once

#include "sim/server.h"
#include "sim/wait_queue.h"

namespace sluice::sim {

enum class PreemptiveOrder {
  ShortestRemaining,  // SRPT; with a quantum, shortest-connection-first
  ShortestSize,       // PSJF
  Priority,           // least rank, and first come among equals
};

// One core that always serves the first job in order: a job that comes before the one in service interrupts
// it, at once, or with a quantum when the running chunk of that length ends. What was interrupted goes on
// later where it stopped. Source of the quantum: Crovella, Frangioso and Harchol-Balter, "Connection
// Scheduling in Web Servers", USENIX Symposium on Internet Technologies and Systems, 1999, where a server
// sends a file chunk by chunk. Cost:   O(log n) per job and interruption.
class PreemptiveServer final : public Server {
 public:
  // quantum 0: at once.
  explicit PreemptiveServer(PreemptiveOrder order, double quantum = 0) noexcept;

  void arrive(double now, const Job&) override;
  double next_event() const noexcept override { return next_event_; }
  std::optional<Job> step() override;

  std::size_t job_count() const noexcept override { return waiting_.size() + (running_ ? 1 : 0); }
  double unfinished_work(double now) const noexcept override;
  double work_done(double now) const noexcept override;

 private:
  struct Task {
    Job job;
    double remaining;
    std::uint64_t order;  // of arrival: what is interrupted keeps its place among equals
  };
  double key_of(const Task&) const noexcept;
  void advance(double now) noexcept;
  void enqueue(const Task&);
  void run_first();
  void plan() noexcept;

  PreemptiveOrder order_;
  double quantum_;
  std::optional<Task> running_;
  WaitQueue<Task> waiting_;
  std::uint64_t arrived_ = 0;
  double now_ = 0;
  double chunk_began_ = 0;  // when the running job was last taken up
  double waiting_work_ = 0, done_ = 0;
  double next_event_ = kNever;
};

}  // namespace sluice::sim
