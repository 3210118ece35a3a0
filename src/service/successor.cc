#include "service/successor.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sluice::service {
namespace {

// The other threads are not there after fork(): system calls alone, and memory that was made before.
[[noreturn]] void become(char* const* arguments, char* const* environment, const sigset_t& none,
                         int open_max) {
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (::close_range(3, ~0U, 0) != 0)
    for (int fd = 3; fd < open_max; ++fd)
      ::close(fd);
  ::execvpe(arguments[0], arguments, environment);
  ::_exit(127);
}

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> all;
  for (const std::string& word : words)
    all.push_back(const_cast<char*>(word.c_str()));
  all.push_back(nullptr);
  return all;
}

}  // namespace

Result<void> start_successor(const std::vector<std::string>& command) {
  std::vector<std::string> variables;
  for (char** at = environ; *at != nullptr; ++at)
    if (!std::string_view(*at).starts_with("WATCHDOG_PID=")) variables.emplace_back(*at);
  const std::vector<char*> arguments = pointers(command), environment = pointers(variables);
  sigset_t none;
  ::sigemptyset(&none);
  rlimit limit{};
  const int open_max = ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? static_cast<int>(limit.rlim_cur) : 1024;
  const pid_t between = ::fork();
  if (between < 0) return Error(std::error_code(errno, std::generic_category()));
  if (between == 0) {
    const pid_t successor = ::fork();
    if (successor == 0) become(arguments.data(), environment.data(), none, open_max);
    ::_exit(successor < 0 ? 1 : 0);
  }
  int status = 0;
  while (::waitpid(between, &status, 0) < 0)
    if (errno != EINTR) return Error(std::error_code(errno, std::generic_category()));
  if (status != 0) return Error(std::make_error_code(std::errc::resource_unavailable_try_again));
  return {};
}

}  // namespace sluice::service
