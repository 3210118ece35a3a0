// The whole `sluice demo` as a process: what it shows, and that nothing stays behind however it ends.
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "demo/environment.h"
#include "demo/failure.h"

namespace sluice::demo {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::seconds;

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Commands of the processes that were told of this folder or run in it.
std::string processes_of(const fs::path& folder) {
  std::string found;
  std::error_code ec;
  for (const auto& entry : fs::directory_iterator("/proc", ec)) {
    const std::string pid = entry.path().filename();
    if (pid.find_first_not_of("0123456789") != std::string::npos || pid == std::to_string(::getpid()))
      continue;
    const std::string command = text_of(entry.path() / "cmdline");
    const std::string where = fs::read_symlink(entry.path() / "cwd", ec).string();
    if (command.find(folder.string()) != std::string::npos || where.find(folder.string()) == 0)
      found += pid + " " + command + "\n";
  }
  return found;
}

// The number behind these words; -1 if they are not there.
int number_behind(const std::string& words, const std::string& output) {
  const std::size_t at = output.find(words);
  return at == std::string::npos ? -1 : std::atoi(output.c_str() + at + words.size());
}

class DemoRun : public testing::Test {
 protected:
  void SetUp() override {
    try {
      postgresql_programs();
    } catch (const Failure& failure) {
      GTEST_SKIP() << failure.what();
    }
    if (::geteuid() == 0 && ::getpwnam("postgres") == nullptr)
      GTEST_SKIP() << "no user postgres to run the servers as";
    std::string pattern = (fs::temp_directory_path() / "demo-test-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    ASSERT_EQ(::chmod(pattern.c_str(), 01777), 0);  // started by root, the demo is another user
  }

  void TearDown() override {
    if (pid_ > 0 && ::waitpid(pid_, nullptr, WNOHANG) == 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    if (!folder_.empty()) fs::remove_all(folder_);
    if (!output_.empty()) fs::remove(output_);
  }

  void start(const std::string& options) {
    output_ = folder_.string() + ".out";
    pid_ = ::fork();
    if (pid_ != 0) return;
    ::setenv("TMPDIR", folder_.c_str(), 1);
    const int out = ::open(output_.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600);
    ::dup2(out, STDOUT_FILENO);
    ::dup2(out, STDERR_FILENO);
    const std::string command = "exec " SLUICE_PROGRAM " demo --port 0 " + options;
    ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    ::_exit(127);
  }

  bool wait_for_output(const std::string& words) const {
    for (int i = 0; i < 900; ++i) {
      if (text_of(output_).find(words) != std::string::npos) return true;
      std::this_thread::sleep_for(milliseconds(100));
    }
    return false;
  }

  // As the shell gives it.
  int wait_for_end() {
    int raw = 0;
    ::waitpid(pid_, &raw, 0);
    pid_ = -1;
    return WIFEXITED(raw) ? WEXITSTATUS(raw) : 128 + WTERMSIG(raw);
  }

  void expect_nothing_left(seconds patience) const {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while ((!fs::is_empty(folder_) || !processes_of(folder_).empty()) &&
           std::chrono::steady_clock::now() < deadline)
      std::this_thread::sleep_for(milliseconds(50));
    EXPECT_TRUE(fs::is_empty(folder_));
    EXPECT_EQ(processes_of(folder_), "");
  }

  fs::path folder_, output_;
  pid_t pid_ = -1;
};

TEST_F(DemoRun, ShowsBorrowingsEndsWithASummaryAndLeavesNothing) {
  start("--seconds 20");
  EXPECT_EQ(wait_for_end(), 0);
  const std::string output = text_of(output_);
  expect_nothing_left(seconds(0));
  EXPECT_NE(output.find("DATABASE_URL=postgresql://premium:"), std::string::npos) << output;
  EXPECT_NE(output.find("premium borrows r"), std::string::npos) << output;
  EXPECT_NE(output.find("Summary after 20 s"), std::string::npos) << output;
  EXPECT_NE(output.find(" pgbench runs, 0 failed"), std::string::npos) << output;
  // The addresses to look at come before all else, and that it is too early yet.
  EXPECT_EQ(output.find("Dashboard: http://127.0.0.1:"), 0U) << output;
  const std::size_t remark = output.find("(both answer once it says ready)");
  EXPECT_LT(remark, output.find("making a PostgreSQL primary")) << output;
  EXPECT_NE(output.find("Placer:    http://127.0.0.1:"), std::string::npos) << output;
  EXPECT_NE(output.find("placement: /item on "), std::string::npos) << output;
  EXPECT_GT(number_behind("application: ", output), 20) << output;
  EXPECT_NE(output.find(" visits, 0 failed"), std::string::npos) << output;
  EXPECT_GT(number_behind("\n  borrowings: ", output), 0) << output;
  EXPECT_GT(number_behind("  returns: ", output), 0) << output;
}

TEST_F(DemoRun, IsInterruptedAtItsStartAndLeavesNothing) {
  start("");
  ASSERT_TRUE(wait_for_output("streaming standbys")) << text_of(output_);
  ::kill(pid_, SIGTERM);
  EXPECT_EQ(wait_for_end(), 128 + SIGTERM);
  expect_nothing_left(seconds(0));
}

TEST_F(DemoRun, IsInterruptedAtWorkAndLeavesNothing) {
  start("");
  ASSERT_TRUE(wait_for_output("premium: ")) << text_of(output_);
  ::kill(pid_, SIGINT);
  EXPECT_EQ(wait_for_end(), 0);
  expect_nothing_left(seconds(0));
  EXPECT_NE(text_of(output_).find("Summary"), std::string::npos);
}

TEST_F(DemoRun, IsKilledAndLeavesNothing) {
  start("");
  ASSERT_TRUE(wait_for_output("premium: ")) << text_of(output_);
  ::kill(pid_, SIGKILL);
  EXPECT_EQ(wait_for_end(), 128 + SIGKILL);
  expect_nothing_left(seconds(20));
}

TEST_F(DemoRun, EndsWhenNobodyReadsItsOutput) {
  start("| head -n 1");
  ASSERT_TRUE(wait_for_output("Dashboard")) << text_of(output_);
  wait_for_end();
  expect_nothing_left(seconds(60));
}

TEST_F(DemoRun, SaysWhatIsWrongWithItsOptions) {
  for (const std::string options : {"--seconds 0", "--seconds x", "--port 70000", "--nonsense"}) {
    start(options);
    EXPECT_EQ(wait_for_end(), 2) << options;
  }
  ::setenv("SLUICE_PG_BIN", "/nonexistent", 1);
  start("");
  ::unsetenv("SLUICE_PG_BIN");
  EXPECT_EQ(wait_for_end(), 1);
  EXPECT_NE(text_of(output_).find("SLUICE_PG_BIN is /nonexistent"), std::string::npos) << text_of(output_);
  expect_nothing_left(seconds(0));
}

}  // namespace
}  // namespace sluice::demo
