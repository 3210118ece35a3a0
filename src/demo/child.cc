#include "demo/child.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "demo/failure.h"

extern char** environ;

namespace sluice::demo {
namespace {

std::vector<std::string> environment_of(const Command& command) {
  std::vector<std::string> result;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    // PGHOST, PGOPTIONS and the like of the user's shell are about other servers; messages are read in
    // English.
    const std::string_view text = *entry;
    if (text.substr(0, 2) != "PG" && text.substr(0, 7) != "LC_ALL=") result.emplace_back(text);
  }
  result.emplace_back("LC_ALL=C");
  for (const auto& [name, value] : command.environment)
    result.push_back(name + "=" + value);
  return result;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts)
    result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

// Between fork and exec: only what is safe there, nothing that allocates.
[[noreturn]] void become(const Command& command, char** argv, char** environment, pid_t parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, command.death_signal);
  if (::getppid() != parent) ::_exit(126);  // it died before prctl
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  std::signal(SIGPIPE, SIG_DFL);
  const int null = ::open("/dev/null", O_RDONLY);
  const int log = ::open(command.log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (null < 0 || log < 0 || ::chdir(command.directory.c_str()) != 0) ::_exit(126);
  ::dup2(null, STDIN_FILENO);
  ::dup2(log, STDOUT_FILENO);
  ::dup2(log, STDERR_FILENO);
  ::close_range(3, ~0U, 0);
  ::execve(argv[0], argv, environment);
  ::_exit(127);
}

}  // namespace

Child::Child(const Command& command) {
  std::vector<std::string> texts = command.argv;
  std::vector<std::string> environment_texts = environment_of(command);
  const std::vector<char*> argv = pointers(texts);
  const std::vector<char*> environment = pointers(environment_texts);
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ < 0) throw Failure("no further process can be started: " + std::string(std::strerror(errno)));
  if (pid_ == 0)
    become(command, const_cast<char**>(argv.data()), const_cast<char**>(environment.data()), parent);
  ::setpgid(pid_, pid_);  // as the child does: whoever is first
}

Child::Child(Child&& other) noexcept : pid_(std::exchange(other.pid_, -1)), status_(other.status_) {}

Child& Child::operator=(Child&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(status_, other.status_);
  return *this;
}

Child::~Child() {
  if (pid_ > 0) stop(SIGKILL, std::chrono::milliseconds(0));
}

std::optional<int> Child::status() {
  if (status_ || pid_ <= 0) return status_;
  int raw = 0;
  if (::waitpid(pid_, &raw, WNOHANG) == pid_)
    status_ = WIFEXITED(raw) ? WEXITSTATUS(raw) : 128 + WTERMSIG(raw);
  return status_;
}

void Child::signal(int number) {
  if (running()) ::kill(-pid_, number);
}

void Child::stop(int number, std::chrono::milliseconds grace) {
  signal(number);
  const Clock::time_point deadline = Clock::now() + grace;
  while (running()) {
    if (Clock::now() >= deadline) signal(SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

void run_all(Signals& signals, const std::vector<Command>& commands, std::chrono::seconds timeout) {
  const Clock::time_point deadline = Clock::now() + timeout;
  std::vector<Child> children;
  children.reserve(commands.size());
  for (const Command& command : commands)
    children.emplace_back(command);
  for (std::size_t i = 0; i < children.size(); ++i) {
    while (children[i].running()) {
      if (Clock::now() >= deadline)
        throw Failure(commands[i].argv[0] + " takes longer than " + std::to_string(timeout.count()) + " s\n" +
                      end_of_log(commands[i].log));
      signals.wait_or_throw(std::min(deadline, Clock::now() + std::chrono::milliseconds(200)));
    }
    if (children[i].status() != 0)
      throw Failure(commands[i].argv[0] + " failed with exit status " +
                    std::to_string(*children[i].status()) + "\n" + end_of_log(commands[i].log));
  }
}

std::string end_of_log(const std::string& path) {
  constexpr std::streamoff kBytesMax = 2000;
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return {};
  const std::streamoff size = file.tellg();
  file.seekg(std::max<std::streamoff>(0, size - kBytesMax));
  std::string line, result;
  if (size > kBytesMax) std::getline(file, line);  // the rest of a cut line
  while (std::getline(file, line))
    result += "    " + line + "\n";
  return result;
}

}  // namespace sluice::demo
