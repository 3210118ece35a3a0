#include "bench/run.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <ctime>
#include <exception>
#include <list>
#include <utility>
#include <vector>

#include <asio/co_spawn.hpp>
#include <asio/experimental/as_tuple.hpp>
#include <asio/io_context.hpp>
#include <asio/signal_set.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include "bench/abandoned.h"
#include "bench/arrival_plan.h"
#include "bench/cpu_window.h"
#include "bench/descriptor_limit.h"
#include "bench/run_folder.h"
#include "bench/terminal_session.h"
#include "net/resolve.h"
#include "net/socket_address.h"
#include "net/task_group.h"
#include "sim/job_stream.h"

namespace sluice::bench {
namespace {

constexpr auto kAwait = asio::experimental::as_tuple(asio::use_awaitable);

// Instead of kSettle, where somebody waits for the program to end.
constexpr std::chrono::seconds kSettleInterrupted{3};

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

Arrivals arrivals_of(const RunOptions& options) {
  const RunKey& key = options.key;
  Arrivals arrivals;
  arrivals.terminals = key.terminals;
  arrivals.duration = key.duration;
  arrivals.lifetime_min = key.lifetime_min;
  arrivals.lifetime_max = key.lifetime_max;
  arrivals.premium_share = key.premium_share;
  arrivals.hosts = std::max<std::size_t>(options.key.hosts.size(), 1);
  arrivals.seed = sim::derived_seed(key.seed, key.repetition);
  return arrivals;
}

// With the class and its user, where --class-users says who that is.
std::string cannot_connect(const RunOptions& options, std::size_t class_index,
                           const pgclient::PgError& error) {
  std::string text = "cannot connect to " + options.server.host + ":" + std::to_string(options.server.port);
  const std::string& user = options.class_users[class_index];
  if (!user.empty()) text += " as " + user + ", the user of class " + options.class_names[class_index];
  text += ": " + error.message;
  const bool let_in = !error.sqlstate.starts_with("28");
  if (!user.empty() && !let_in)
    text += "; --class-users takes users whom the router lets in with the connection string's password";
  return text;
}

class Run {
 public:
  Run(const RunOptions& options, const OnProgress& on_progress)
      : options_(options),
        on_progress_(on_progress),
        plan_(plan_arrivals(arrivals_of(options))),
        cpu_(options.replicas),
        folder_(options.output, options.key),
        signals_(context_, SIGINT, SIGTERM),
        abandoned_(context_.get_executor()),
        tasks_(context_.get_executor()) {
    recorder_.query = [this](const QueryRecord& record) { take(record); };
    recorder_.session = [this](const SessionRecord& record) { take(record); };
  }

  RunResult go() {
    RunResult result;
    result.info.began = utc_now();
    std::exception_ptr fault;
    signals_.async_wait([this](asio::error_code ec, int) {
      interrupted_ = interrupted_ || !ec;
      ticks_.cancel();
    });
    asio::co_spawn(context_, drive(), [&](std::exception_ptr e) {
      fault = std::move(e);
      asio::error_code ec;
      signals_.cancel(ec);
    });
    context_.run();
    if (fault) std::rethrow_exception(fault);
    if (!folder_.fault().empty()) throw Failure(folder_.fault());
    if (interrupted_) {
      result.outcome = Outcome::Interrupted;
      return result;
    }
    describe(result.info);
    if (result.info.summary.all.samples() == 0) throw Failure(nothing_measured(result.info.summary));
    folder_.finish(result.info);
    return result;
  }

 private:
  template <class Record>
  void take(const Record& record);
  bool goes_on() const { return !interrupted_ && folder_.fault().empty(); }
  asio::awaitable<void> drive();
  asio::awaitable<void> measure();
  asio::awaitable<void> contact();
  asio::awaitable<void> first_contact();
  asio::awaitable<void> log_in(std::size_t class_index);
  asio::awaitable<bool> wait_until(double moment);
  asio::awaitable<bool> arrive_until(double moment);
  asio::awaitable<void> drain();
  void tick(Awaiting awaiting = Awaiting::Nothing, std::size_t count = 0, double until = 0);
  void describe(RunInfo& info);
  std::string nothing_measured(const Summary& summary) const;

  RunOptions options_;
  const OnProgress& on_progress_;
  const std::vector<TerminalPlan> plan_;
  CpuWindow cpu_;
  RunFolder folder_;
  Summarizer summarizer_;
  bool interrupted_ = false;
  std::string first_error_;
  std::exception_ptr no_contact_;  // why it cannot begin
  std::size_t arrived_ = 0;
  double measured_seconds_ = 0, next_tick_ = 0;
  RunClock clock_;
  Recorder recorder_;

  asio::io_context context_{1};
  asio::signal_set signals_;
  asio::steady_timer ticks_{context_};
  Abandoned abandoned_;
  std::list<TerminalSession> sessions_;
  net::TaskGroup tasks_;
};

template <class Record>
void Run::take(const Record& record) {
  summarizer_.add(record);
  if (first_error_.empty()) first_error_ = record.error;
  folder_.add(record, options_.class_names[record.class_index]);
  if (!folder_.fault().empty()) ticks_.cancel();
}

// One look-up for all sessions, as thousands of them would need as many threads of the resolver; and one
// connection of each user, so that a wrong address, user or password is told as such.
asio::awaitable<void> Run::first_contact() {
  pgclient::ConnectParams& server = options_.server;
  if (!net::is_unix_address(server.host) && server.hostaddr.empty()) {
    std::string host = server.host;
    const auto found =
        co_await net::resolve(std::move(host), server.port, to_ms(options_.key.connect_timeout));
    if (!found || found->empty()) throw Failure("cannot look up " + server.host);
    for (const auto& endpoint : *found)
      server.addresses.push_back(endpoint.address().to_string());
  }
  std::vector<std::string> seen;
  for (std::size_t c = 0; c < kClassCount; ++c) {
    const std::string user = options_.user_of(c);
    const bool comes = std::any_of(plan_.begin(), plan_.end(),
                                   [c](const TerminalPlan& terminal) { return terminal.class_index == c; });
    if (!comes || std::find(seen.begin(), seen.end(), user) != seen.end()) continue;
    co_await log_in(c);
    seen.push_back(user);
  }
}

asio::awaitable<void> Run::log_in(std::size_t class_index) {
  pgclient::ConnectParams& server = options_.server;
  pgclient::ConnectParams params = server;
  params.user = options_.user_of(class_index);
  const auto client =
      co_await pgclient::Client::connect(std::move(params), to_ms(options_.key.connect_timeout));
  if (!client) throw Failure(cannot_connect(options_, class_index, client.error()));
  // All others begin where this one got through, and go on to the rest as it did.
  std::stable_partition(server.addresses.begin(), server.addresses.end(),
                        [&](const std::string& address) { return address == client->address(); });
}

asio::awaitable<void> Run::contact() {
  co_await asio::this_coro::throw_if_cancelled(false);
  try {
    co_await first_contact();
  } catch (...) {
    no_contact_ = std::current_exception();
  }
}

// A few times a second, however many sessions arrive.
void Run::tick(Awaiting awaiting, std::size_t count, double until) {
  const double now = clock_.now();
  if (now < next_tick_) return;
  next_tick_ = now + 0.2;
  folder_.flush();
  if (on_progress_)
    on_progress_({std::clamp(now, 0.0, options_.key.duration), awaiting, count, std::max(0.0, until - now)});
}

// False when the run was interrupted before, or cannot be written.
asio::awaitable<bool> Run::wait_until(double moment) {
  while (goes_on() && clock_.now() < moment) {
    ticks_.expires_at(std::min(clock_.at(moment), Clock::now() + to_clock(0.25)));
    co_await ticks_.async_wait(kAwait);
    tick();
  }
  co_return goes_on();
}

// Sessions that arrive before the moment, each in its time.
asio::awaitable<bool> Run::arrive_until(double moment) {
  while (arrived_ < plan_.size() && plan_[arrived_].arrives < moment) {
    const bool on = co_await wait_until(plan_[arrived_].arrives);
    if (!on) co_return false;
    TerminalSession& session =
        sessions_.emplace_back(options_, clock_, recorder_, abandoned_, arrived_, plan_[arrived_]);
    tasks_.spawn("terminal", session.run());
    ++arrived_;
  }
  co_return co_await wait_until(moment);
}

asio::awaitable<void> Run::drain() {
  const double end = options_.key.duration + options_.key.drain;
  while (tasks_.size() > 0 && goes_on() && clock_.now() < end) {
    tick(Awaiting::Answers, tasks_.size(), end);
    ticks_.expires_at(std::min(clock_.at(end), Clock::now() + to_clock(0.05)));
    co_await ticks_.async_wait(kAwait);
  }
}

asio::awaitable<void> Run::measure() {
  // A task, as those are cancelled with the run: a server that says nothing would hold up its end.
  tasks_.spawn("first contact", contact());
  while (tasks_.size() > 0 && goes_on()) {
    ticks_.expires_after(to_clock(0.02));
    co_await ticks_.async_wait(kAwait);
  }
  if (!goes_on()) co_return;
  if (no_contact_) std::rethrow_exception(no_contact_);
  clock_.began = Clock::now();
  bool on = co_await arrive_until(options_.key.warm_up);
  if (!on) co_return;
  cpu_.begin();
  const double from = clock_.now();
  on = co_await arrive_until(options_.key.duration);
  if (!on) co_return;
  cpu_.end();
  measured_seconds_ = clock_.now() - from;
  co_await drain();
}

// Whatever happens, no session outlives this, and no query that the server could be stopped from.
asio::awaitable<void> Run::drive() {
  std::exception_ptr fault;
  try {
    co_await measure();
  } catch (...) {
    fault = std::current_exception();
  }
  co_await tasks_.stop();
  const double stopped = clock_.now();
  const Abandoned::WaitOn wait_on = [this, stopped](std::size_t open) {
    const double end = stopped + Seconds(goes_on() ? kSettle : kSettleInterrupted).count();
    tick(Awaiting::Cancels, open, end);
    return clock_.now() < end;
  };
  co_await abandoned_.finish(wait_on);
  if (fault) std::rethrow_exception(fault);
}

std::string Run::nothing_measured(const Summary& summary) const {
  std::string text = "no query ended well in the measured time; " +
                     std::to_string(summary.sessions_failed[0] + summary.sessions_failed[1]) + " of " +
                     std::to_string(options_.key.terminals) + " sessions and " +
                     std::to_string(summary.all.lost.total()) + " queries failed";
  if (!first_error_.empty()) text += ", the first with " + first_error_;
  return text;
}

void Run::describe(RunInfo& info) {
  info.key = options_.key;
  info.class_names = options_.class_names;
  info.server =
      options_.server.host + ":" + std::to_string(options_.server.port) + "/" + options_.server.database;
  info.measured_seconds = measured_seconds_;
  info.summary = summarizer_.summary();
  info.abandoned = abandoned_.count();
  info.abandoned_open = abandoned_.open();
  info.replicas = cpu_.use();
}

}  // namespace

RunResult run(const RunOptions& options, const OnProgress& on_progress) {
  ensure_descriptors(options.key.terminals);
  return Run(options, on_progress).go();
}

}  // namespace sluice::bench
