#pragma once

#include <chrono>
#include <csignal>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "demo/signals.h"

namespace sluice::demo {

struct Command {
  std::vector<std::string> argv;                                 // argv[0] is a path
  std::string directory;                                         // where it runs
  std::string log;                                               // its output is appended here
  std::vector<std::pair<std::string, std::string>> environment;  // besides ours without PG*
  int death_signal = SIGKILL;  // sent by the kernel should the demo itself be killed
};

// A process that lives no longer than this object: in a process group of its own, so that the terminal's
// Ctrl-C reaches the demo alone, which then ends things in order.
class Child {
 public:
  explicit Child(const Command& command);  // throws Failure when it cannot be forked
  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) noexcept;
  ~Child();  // stop() with SIGKILL

  // Exit status as the shell gives it (128 + signal when killed), once it has ended. Never waits.
  std::optional<int> status();
  bool running() { return !status().has_value(); }
  void signal(int number);  // to its whole group
  // Sends `number`, waits up to `grace`, then kills. Returns when the process is gone.
  void stop(int number, std::chrono::milliseconds grace);

 private:
  pid_t pid_ = -1;
  std::optional<int> status_;
};

// Runs all of them side by side to their ends. Throws Failure that names the first one that failed and holds
// the end of its log, or that `timeout` has passed; throws Stopped.
void run_all(Signals& signals, const std::vector<Command>& commands, std::chrono::seconds timeout);

// The last lines of a log file, each indented, at most 2,000 bytes; empty when there is none.
std::string end_of_log(const std::string& path);

}  // namespace sluice::demo
