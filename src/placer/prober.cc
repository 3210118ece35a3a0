#include "placer/prober.h"

#include <algorithm>
#include <utility>

#include <asio/experimental/as_tuple.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include "base/error.h"
#include "net/connect.h"
#include "net/deadline.h"
#include "net/resolve.h"
#include "placer/health_page.h"

namespace sluice::placer {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::nanoseconds;

// The last so many samples.
class Window {
 public:
  void add(nanoseconds sample, std::size_t size) {
    if (samples_.size() >= size)
      samples_.erase(samples_.begin(), samples_.end() - static_cast<std::ptrdiff_t>(size - 1));
    samples_.push_back(sample);
  }
  std::size_t size() const noexcept { return samples_.size(); }
  // Of an even number of samples the mean of the two in the middle.
  std::optional<nanoseconds> median() const {
    if (samples_.empty()) return std::nullopt;
    std::vector<nanoseconds> sorted = samples_;
    std::sort(sorted.begin(), sorted.end());
    const std::size_t middle = sorted.size() / 2;
    return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }

 private:
  std::vector<nanoseconds> samples_;
};

asio::awaitable<Result<HealthAnswer>> ask_in_time(net::Stream& stream, std::string request,
                                                  std::chrono::milliseconds timeout) {
  const net::Deadline deadline(stream.get_executor(), timeout, [&stream] { stream.close(); });
  auto answer = co_await ask(stream, std::move(request));
  if (deadline.expired()) co_return BaseErrc::Timeout;
  co_return answer;
}
bool in_vain(const Result<HealthAnswer>& answer) {
  return !answer && answer.error().code == make_error_code(BaseErrc::Timeout);
}

}  // namespace

struct Prober::Watch {
  Watch(asio::any_io_executor executor, HostPtr state) : host(std::move(state)), timer(std::move(executor)) {}

  const HostPtr host;
  config::ComputeHost entry;
  asio::steady_timer timer;
  std::optional<net::Stream> kept;
  Window paths, connects;
  HostReport report;
  std::uint32_t good_in_row = 0, bad_in_row = 0;
  bool gone = false;
};

Prober::Prober(asio::any_io_executor executor, Checked checked)
    : executor_(std::move(executor)), checked_(std::move(checked)), tasks_(executor_) {}

Prober::~Prober() = default;

void Prober::configure(SnapshotPtr snapshot) {
  snapshot_ = std::move(snapshot);
  std::vector<std::shared_ptr<Watch>> watches;
  for (std::size_t i = 0; i < snapshot_->hosts.size(); ++i) {
    const HostPtr& host = snapshot_->hosts[i];
    const auto known =
        std::find_if(watches_.begin(), watches_.end(), [&](const auto& w) { return w->host == host; });
    const bool is_new = known == watches_.end();
    auto watch = is_new ? std::make_shared<Watch>(executor_, host) : *known;
    watch->entry = snapshot_->config->compute_hosts[i];
    watches.push_back(watch);
    if (is_new) tasks_.spawn("health checks", follow(watch));
  }
  for (const auto& watch : watches_) {
    if (std::find(watches.begin(), watches.end(), watch) != watches.end()) continue;
    watch->gone = true;
    watch->timer.cancel();
  }
  watches_ = std::move(watches);
}

std::vector<HostReport> Prober::reports() const {
  std::vector<HostReport> reports;
  for (const auto& watch : watches_) {
    HostReport report = watch->report;
    report.path = watch->paths.median();
    report.connect = watch->connects.median();
    report.samples = watch->entry.health_path.empty() ? watch->connects.size() : watch->paths.size();
    report.up = watch->host->up.load(std::memory_order_relaxed);
    reports.push_back(std::move(report));
  }
  return reports;
}

asio::awaitable<void> Prober::stop() {
  stopping_ = true;
  for (const auto& watch : watches_)
    watch->timer.cancel();
  co_await tasks_.stop();
}

asio::awaitable<void> Prober::follow(std::shared_ptr<Watch> watch) {
  co_await asio::this_coro::throw_if_cancelled(false);
  while (!watch->gone && !stopping_) {
    const auto begun = Clock::now();
    co_await check(*watch);
    if (watch->gone || stopping_) co_return;
    watch->timer.expires_at(begun + snapshot_->options().path_interval);
    co_await watch->timer.async_wait(asio::experimental::as_tuple(asio::use_awaitable));
  }
}

// Asks for the health page over the kept connection before it opens another one: an application server is
// still busy with a new connection when the next request comes, and that would be taken for a part of the
// way.
asio::awaitable<void> Prober::check(Watch& watch) {
  const std::chrono::milliseconds timeout = snapshot_->options().health_check_timeout;
  const std::size_t window = snapshot_->options().path_window;
  const auto failed = [&](std::string problem) {
    watch.report.problem = std::move(problem);
    watch.kept.reset();
    if (!stopping_) judge(watch, false);
  };
  const std::string path = watch.entry.health_path;
  const std::string request = "GET " + path + " HTTP/1.1\r\nHost: " + watch.entry.address + ":" +
                              std::to_string(watch.entry.port) +
                              "\r\nUser-Agent: sluice-placer\r\nAccept: */*\r\n\r\n";
  if (path.empty()) watch.kept.reset();
  Result<HealthAnswer> answer = Error(BaseErrc::Closed);
  if (watch.kept) {
    const auto before = Clock::now();
    std::string text = request;
    answer = co_await ask_in_time(*watch.kept, std::move(text), timeout);
    if (in_vain(answer)) co_return failed("no answer to " + path + " in time");
    if (answer) watch.paths.add(Clock::now() - before, window);
  }
  // The name apart, so that its lookup is not taken for a part of the way.
  std::string address = watch.host->target.host;
  auto found = co_await net::resolve(std::move(address), watch.host->target.port, timeout);
  if (!found) co_return failed("its name cannot be looked up: " + found.error().code.message());
  net::ConnectTarget target{found->front().address().to_string(), watch.host->target.port};
  const auto before_connect = Clock::now();
  const net::SocketOptions options{};
  auto made = co_await net::connect(std::move(target), timeout, options);
  if (!made) co_return failed("no connection: " + made.error().code.message());
  watch.connects.add(Clock::now() - before_connect, window);
  if (!answer && !path.empty()) {  // there was no kept connection, or the host had closed it, as it may
    watch.kept.emplace(*std::move(made));
    const auto before = Clock::now();
    std::string text = request;
    answer = co_await ask_in_time(*watch.kept, std::move(text), timeout);
    if (answer && watch.paths.size() == 0) watch.paths.add(Clock::now() - before, window);
  }
  if (!path.empty()) {
    if (in_vain(answer)) co_return failed("no answer to " + path + " in time");
    if (!answer) co_return failed("no answer to " + path + ": " + answer.error().code.message());
    if (answer->status < 200 || answer->status >= 400)
      co_return failed(path + " answered " + std::to_string(answer->status));
    if (!answer->keep_alive) watch.kept.reset();
  }
  watch.report.problem.clear();
  watch.report.measured_at = Clock::now();
  judge(watch, true);
}

void Prober::judge(Watch& watch, bool ok) {
  const config::PlacerOptions& options = snapshot_->options();
  const bool first = !std::exchange(watch.report.checked, true);
  const bool up = watch.host->up.load(std::memory_order_relaxed);
  // Taken out by requests since the last check: what was counted before says nothing.
  if (watch.report.up && !up) watch.good_in_row = 0;
  watch.good_in_row = ok ? watch.good_in_row + 1 : 0;
  watch.bad_in_row = ok ? 0 : watch.bad_in_row + 1;
  bool now_up = up;
  if (!up && ok && (first || watch.good_in_row >= options.health_check_rise)) now_up = true;
  if (up && !ok && (first || watch.bad_in_row >= options.health_check_fall)) now_up = false;
  if (now_up && !up) watch.host->failures_in_row.store(0, std::memory_order_relaxed);
  watch.host->up.store(now_up, std::memory_order_relaxed);
  watch.report.up = now_up;
  checked_(*watch.host, ok, now_up != up);
}

}  // namespace sluice::placer
