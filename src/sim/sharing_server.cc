#include "sim/sharing_server.h"

#include <algorithm>

#include "base/assert.h"

namespace sluice::sim {
SharingServer::SharingServer(const Settings& settings) noexcept : settings_(settings) {
  SLUICE_ASSERT(settings.cores > 0 && settings.cores_per_job > 0);
}

double SharingServer::rate() const noexcept {
  return std::min(settings_.cores_per_job, settings_.cores / static_cast<double>(active_.size()));
}

void SharingServer::advance(double now) noexcept {
  SLUICE_ASSERT(now >= now_);
  if (!active_.empty()) {
    const double gained = (now - now_) * rate();
    attained_ += gained;
    const double work = gained * static_cast<double>(active_.size());
    unfinished_ -= work;
    done_ += work;
  }
  now_ = now;
}

void SharingServer::plan() noexcept {
  next_event_ = active_.empty() ? kNever : now_ + std::max(0.0, active_.least_key() - attained_) / rate();
}

void SharingServer::arrive(double now, const Job& job) {
  SLUICE_ASSERT(now <= next_event_ && job.size > 0);
  advance(now);
  unfinished_ += job.size;
  active_.push(attained_ + job.size, started_++, job);
  plan();
}

std::optional<Job> SharingServer::step() {
  SLUICE_ASSERT(!active_.empty());
  const double ended_at = active_.least_key();
  advance(next_event_);
  attained_ = ended_at;  // exactly, whatever the rounding of the time
  const Job ended = active_.pop();
  if (active_.empty()) attained_ = unfinished_ = 0;  // errors of rounding end with each busy period
  plan();
  return ended;
}

double SharingServer::unfinished_work(double now) const noexcept {
  if (active_.empty()) return 0;
  return std::max(0.0, unfinished_ - (now - now_) * rate() * static_cast<double>(active_.size()));
}

double SharingServer::work_done(double now) const noexcept {
  return active_.empty() ? done_ : done_ + (now - now_) * rate() * static_cast<double>(active_.size());
}

}  // namespace sluice::sim
