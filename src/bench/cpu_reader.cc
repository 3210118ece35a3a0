#include "bench/cpu_reader.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include <unistd.h>

#include "base/text.h"
#include "bench/cpu_accounting.h"
#include "bench/problem.h"

namespace sluice::bench {
namespace {

// "" when there is no such file, or it cannot be read.
std::string file_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Of all processes, by their ids, at nearly one moment.
using Processes = std::map<int, ProcessTimes>;

Processes processes() {
  Processes all;
  std::error_code ec;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ec)) {
    const std::string name = entry.path().filename();
    const auto pid = to_number<int>(name);
    if (!pid) continue;
    if (const auto times = parse_process_stat(file_text("/proc/" + name + "/stat"))) all[*pid] = *times;
  }
  return all;
}

// A postmaster, what its children left to it when they ended, and those that live.
std::optional<double> of_process(const Processes& all, int pid) {
  const auto postmaster = all.find(pid);
  if (postmaster == all.end()) return std::nullopt;
  double ticks = postmaster->second.own + postmaster->second.children;
  for (const auto& [id, times] : all)
    if (times.parent == pid) ticks += times.own + times.children;
  return ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

std::optional<double> of_cgroup(const std::string& path) {
  if (const auto used = parse_cpuacct_usage(file_text(path + "/cpuacct.usage"))) return used;
  return parse_cpu_stat(file_text(path + "/cpu.stat"));
}

std::optional<double> quota_in(const std::string& path) {
  if (const auto granted = parse_cpu_max(file_text(path + "/cpu.max"))) return granted;
  return parse_cfs_quota(file_text(path + "/cpu.cfs_quota_us"), file_text(path + "/cpu.cfs_period_us"));
}

// Nothing where no file says: a quota of 0 is none.
std::optional<double> quota_of(std::string path) {
  if (const auto found = quota_in(path)) return found;
  constexpr std::string_view kAccounts = "/cpuacct/";
  const std::size_t at = path.find(kAccounts);
  if (at == path.npos) return std::nullopt;
  return quota_in(path.replace(at, kAccounts.size(), "/cpu/"));
}

CpuBasis basis_of(const ReplicaSpec& replica) {
  CpuBasis basis;
  const auto* const cgroup = std::get_if<CgroupSource>(&replica.cpu);
  if (cgroup != nullptr)
    basis.cpu_source = parse_cpuacct_usage(file_text(cgroup->path + "/cpuacct.usage"))
                           ? "cgroup v1 cpuacct.usage"
                           : "cgroup v2 cpu.stat";
  else if (std::holds_alternative<ProcessSource>(replica.cpu))
    basis.cpu_source = "/proc";
  const double quota = cgroup == nullptr ? 0 : quota_of(cgroup->path).value_or(0);
  basis.cores = replica.cores > 0 ? replica.cores : quota;
  basis.cores_source = replica.cores > 0 ? "cores:N" : "the cgroup's quota";
  if (basis.cores <= 0) {
    basis.cores = std::max(1U, std::thread::hardware_concurrency());
    basis.cores_source = kWholeMachine;
  }
  return basis;
}

}  // namespace

std::vector<double> read_cpu(std::span<const ReplicaSpec> replicas) {
  std::optional<Processes> all;
  std::vector<double> seconds;
  for (const ReplicaSpec& replica : replicas) {
    std::optional<double> used = 0;
    if (const auto* const cgroup = std::get_if<CgroupSource>(&replica.cpu)) used = of_cgroup(cgroup->path);
    if (const auto* const process = std::get_if<ProcessSource>(&replica.cpu)) {
      if (!all) all = processes();
      used = of_process(*all, process->pid);
    }
    if (!used)
      throw Failure("the processor time of replica " + replica.name +
                    " cannot be read: is that its cgroup's folder, or its postmaster's process id?");
    seconds.push_back(*used);
  }
  return seconds;
}

std::vector<CpuBasis> read_basis(std::span<const ReplicaSpec> replicas) {
  std::vector<CpuBasis> all;
  for (const ReplicaSpec& replica : replicas)
    all.push_back(basis_of(replica));
  return all;
}

}  // namespace sluice::bench
