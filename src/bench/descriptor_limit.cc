#include "bench/descriptor_limit.h"

#include <string>

#include <sys/resource.h>

#include "bench/problem.h"

namespace sluice::bench {
namespace {

constexpr rlim_t kPerSession = 2;  // libpq's socket and Asio's copy of it
constexpr rlim_t kBeside = 64;     // files of results, the event loop, cancel requests, what was inherited

}  // namespace

void ensure_descriptors(std::size_t sessions) {
  const rlim_t needed = kPerSession * sessions + kBeside;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= needed) return;
  limit.rlim_cur = limit.rlim_max;
  if (limit.rlim_max >= needed && ::setrlimit(RLIMIT_NOFILE, &limit) == 0) return;
  throw Failure(std::to_string(sessions) + " sessions may be open at once and need " +
                std::to_string(needed) + " file descriptors, and this process may have " +
                std::to_string(limit.rlim_max) +
                " (ulimit -Hn): raise that limit, or give fewer --terminals");
}

}  // namespace sluice::bench
