#include "bench/cpu_window.h"

#include <algorithm>
#include <variant>

namespace sluice::bench {

CpuWindow::CpuWindow(const std::vector<ReplicaSpec>& replicas) {
  for (const ReplicaSpec& replica : replicas)
    if (!std::holds_alternative<std::monostate>(replica.cpu)) replicas_.push_back(replica);
  basis_ = read_basis(replicas_);
  read_cpu(replicas_);
}

void CpuWindow::begin() {
  first_ = std::async(std::launch::async, [this] { return read(replicas_); }).share();
}

// Never before the first one, however late that thread is.
void CpuWindow::end() {
  last_ = std::async(std::launch::async, [this, first = first_] {
    first.wait();
    return read(replicas_);
  });
}

CpuWindow::Reading CpuWindow::read(const std::vector<ReplicaSpec>& replicas) {
  Reading reading;
  const Clock::time_point before = Clock::now();
  reading.seconds = read_cpu(replicas);
  reading.at = before + (Clock::now() - before) / 2;
  return reading;
}

std::vector<ReplicaUse> CpuWindow::use() {
  std::vector<ReplicaUse> out;
  const Reading first = first_.get(), last = last_.get();
  const double seconds = Seconds(last.at - first.at).count();
  if (seconds <= 0) return out;
  for (std::size_t i = 0; i < replicas_.size(); ++i) {
    const double used = std::max(0.0, last.seconds[i] - first.seconds[i]), cores = basis_[i].cores;
    out.push_back({replicas_[i].name, replicas_[i].address, used, cores, used / (seconds * cores),
                   basis_[i].cpu_source, basis_[i].cores_source});
  }
  return out;
}

}  // namespace sluice::bench
