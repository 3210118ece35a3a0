#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace sluice::bench {

// The kernel's texts about processor time, as numbers. nullopt: not of the form.

// cgroup v1, cpuacct.usage: nanoseconds, as seconds.
std::optional<double> parse_cpuacct_usage(std::string_view text);
// cgroup v2, cpu.stat: usage_usec, as seconds.
std::optional<double> parse_cpu_stat(std::string_view text);

// Processors that a quota grants. No quota, "max" or -1: 0.
std::optional<double> parse_cpu_max(std::string_view text);  // cgroup v2, cpu.max: "30000 10000"
// cgroup v1: cpu.cfs_quota_us and cpu.cfs_period_us.
std::optional<double> parse_cfs_quota(std::string_view quota, std::string_view period);

// /proc/PID/stat. Source: proc(5).
struct ProcessTimes {
  std::int64_t parent = 0;
  double own = 0;       // ticks in user and kernel mode
  double children = 0;  // ... of children that ended and were waited for, and of theirs
};
std::optional<ProcessTimes> parse_process_stat(std::string_view text);

}  // namespace sluice::bench
