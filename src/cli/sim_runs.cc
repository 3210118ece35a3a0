#include "cli/sim_runs.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <fstream>
#include <iostream>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include <unistd.h>

namespace sluice::cli {
namespace {

// The runs that are left, handed out one by one.
class Runs {
 public:
  Runs(std::size_t count, const std::function<void(std::size_t)>& run) : run_(run), count_(count) {}

  void work() {
    while (const auto index = take()) {
      try {
        run_(*index);
      } catch (...) {
        const std::lock_guard lock(mutex_);
        if (!failure_) failure_ = std::current_exception();
        next_ = count_;
      }
      const std::lock_guard lock(mutex_);
      --busy_;
      ++done_;
      changed_.notify_all();
    }
  }

  // Until all runs are over; `show` is called a few times a second with how many are.
  void wait(const std::function<void(std::size_t)>& show) {
    std::unique_lock lock(mutex_);
    while (next_ < count_ || busy_ > 0) {
      changed_.wait_for(lock, std::chrono::milliseconds(250));
      const std::size_t done = done_;
      lock.unlock();
      show(done);
      lock.lock();
    }
  }

  void rethrow() {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  std::optional<std::size_t> take() {
    const std::lock_guard lock(mutex_);
    if (next_ >= count_) return std::nullopt;
    ++busy_;
    return next_++;
  }

  const std::function<void(std::size_t)>& run_;
  const std::size_t count_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t next_ = 0, busy_ = 0, done_ = 0;
  std::exception_ptr failure_;
};

}  // namespace

void add_run_options(CLI::App& command, RunOptions& options) {
  command
      .add_option("--threads", options.threads, "Threads; 0: one per processor. Results do not depend on it")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  command.add_option("--csv", options.csv, "Write all numbers to this file")->type_name("FILE");
  command.add_option("--report", options.report, "Write a page with charts to this file")
      ->type_name("FILE.html");
  command.add_flag("--quiet", options.quiet, "Show no progress");
}

void add_stream_options(CLI::App& command, sim::StreamPlan& plan, bool& formulas, const std::string& jobs) {
  command.add_option("--alpha", plan.alphas, "Tails of the sizes: the smaller, the heavier")
      ->delimiter(',')
      ->check(CLI::Range(0.1, 10.0))
      ->capture_default_str();
  command.add_option("--load", plan.loads, "Utilizations of the whole")
      ->delimiter(',')
      ->check(CLI::Range(0.01, 0.99))
      ->capture_default_str();
  command.add_option("--mean", plan.mean, "Mean size")->check(CLI::Range(1e-9, 1e12))->capture_default_str();
  command.add_option("--max", plan.size_max, "Largest size")
      ->check(CLI::Range(1e-9, 1e15))
      ->capture_default_str();
  command.add_option("--jobs", plan.jobs, jobs + " per run, after a tenth more to warm up")
      ->check(CLI::Range(1'000, 100'000'000))
      ->capture_default_str();
  command.add_option("--runs", plan.runs, "Runs per row")->check(CLI::Range(2, 1'000))->capture_default_str();
  command.add_option("--seed", plan.seed, "Seed")->capture_default_str();
  command.add_option("--confidence", plan.confidence, "Confidence level of the intervals")
      ->check(CLI::Range(0.5, 0.9999))
      ->capture_default_str();
  command.add_flag("--formulas", formulas, "No simulation: exact formulas alone");
}

bool sizes_possible(const sim::StreamPlan& plan, const std::string& command) {
  if (plan.size_max > plan.mean) return true;
  std::cerr << command << ": --max must be above --mean\n";
  return false;
}

void run_all(std::size_t count, const std::function<void(std::size_t)>& run, const RunOptions& options) {
  if (count == 0) return;
  using Clock = std::chrono::steady_clock;
  const Clock::time_point began = Clock::now();
  const bool shows = !options.quiet && ::isatty(STDERR_FILENO) == 1;
  const unsigned wanted =
      options.threads > 0 ? options.threads : std::max(1U, std::thread::hardware_concurrency());
  Runs runs(count, run);
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < std::min<std::size_t>(wanted, count); ++i)
      threads.emplace_back([&] { runs.work(); });
    Clock::time_point shown = began;
    runs.wait([&](std::size_t done) {
      const Clock::time_point now = Clock::now();
      if (!shows || now - shown < std::chrono::milliseconds(200)) return;
      shown = now;
      const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - began).count();
      std::cerr << "\r" << done << " of " << count << " runs, " << seconds << " s " << std::flush;
    });
  }
  if (shows) std::cerr << "\r\033[K" << std::flush;
  runs.rethrow();
}

std::string typed_command() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string out = "sluice", argument;
  std::getline(file, argument, '\0');  // the program, wherever it is
  while (std::getline(file, argument, '\0'))
    out += ' ' + argument;
  return out;
}

namespace {

void write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text << std::flush;
  if (!file) throw std::runtime_error("cannot write " + path);
}

}  // namespace

void write_csv(const RunOptions& options, const std::string& text) {
  if (!options.csv.empty()) write_file(options.csv, text);
}

void write_report(const RunOptions& options, const std::function<report::Report(const std::string&)>& make) {
  if (!options.report.empty()) write_file(options.report, report::page(make(typed_command())));
}

}  // namespace sluice::cli
