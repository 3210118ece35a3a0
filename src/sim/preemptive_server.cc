#include "sim/preemptive_server.h"

#include <algorithm>
#include <cmath>

#include "base/assert.h"

namespace sluice::sim {

PreemptiveServer::PreemptiveServer(PreemptiveOrder order, double quantum) noexcept
    : order_(order), quantum_(quantum) {
  SLUICE_ASSERT(quantum >= 0);
}

double PreemptiveServer::key_of(const Task& task) const noexcept {
  switch (order_) {
    case PreemptiveOrder::ShortestRemaining:
      return task.remaining;
    case PreemptiveOrder::ShortestSize:
      return task.job.size;
    case PreemptiveOrder::Priority:
      return task.job.rank;
  }
  return 0;
}

void PreemptiveServer::advance(double now) noexcept {
  SLUICE_ASSERT(now >= now_);
  if (running_) {
    running_->remaining = std::max(0.0, running_->remaining - (now - now_));
    done_ += now - now_;
  }
  now_ = now;
}

void PreemptiveServer::enqueue(const Task& task) {
  waiting_work_ += task.remaining;
  waiting_.push(key_of(task), task.order, task);
}

void PreemptiveServer::run_first() {
  running_.reset();
  if (waiting_.empty()) {
    waiting_work_ = 0;
    return;
  }
  running_ = waiting_.pop();
  waiting_work_ -= running_->remaining;
  chunk_began_ = now_;
}

void PreemptiveServer::plan() noexcept {
  if (!running_) {
    next_event_ = kNever;
    return;
  }
  next_event_ = now_ + running_->remaining;
  if (quantum_ == 0 || waiting_.empty() || waiting_.least_key() >= key_of(*running_)) return;
  // Somebody waits who would go first: look again when the chunk ends.
  const double chunks = std::max(1.0, std::ceil((now_ - chunk_began_) / quantum_));
  next_event_ = std::min(next_event_, std::max(now_, chunk_began_ + chunks * quantum_));
}

void PreemptiveServer::arrive(double now, const Job& job) {
  SLUICE_ASSERT(now <= next_event_ && job.size > 0);
  advance(now);
  const Task task{job, job.size, arrived_++};
  if (!running_) {
    running_ = task;
    chunk_began_ = now_;
  } else if (quantum_ == 0 && key_of(task) < key_of(*running_)) {
    enqueue(*running_);
    running_ = task;
    chunk_began_ = now_;
  } else {
    enqueue(task);
  }
  plan();
}

std::optional<Job> PreemptiveServer::step() {
  SLUICE_ASSERT(running_.has_value());
  const bool ends = next_event_ >= now_ + running_->remaining;
  advance(next_event_);
  std::optional<Job> ended;
  if (ends)
    ended = running_->job;
  else
    enqueue(*running_);
  run_first();
  plan();
  return ended;
}

double PreemptiveServer::unfinished_work(double now) const noexcept {
  return running_ ? std::max(0.0, waiting_work_ + running_->remaining - (now - now_)) : 0;
}

double PreemptiveServer::work_done(double now) const noexcept {
  return running_ ? done_ + (now - now_) : done_;
}

}  // namespace sluice::sim
