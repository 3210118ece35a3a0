#include "cluster/patroni_watch.h"

#include <algorithm>
#include <utility>

#include <asio/experimental/as_tuple.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include "mirror/fetch.h"
#include "telemetry/log.h"

namespace sluice::cluster {
namespace {

using Clock = std::chrono::steady_clock;

// A cluster of 256 members with all they say of themselves takes a tenth of it.
constexpr std::size_t kPatroniAnswerBytesMax = std::size_t{1} << 20;

}  // namespace

PatroniWatch::PatroniWatch(asio::any_io_executor executor, OnView on_view, OnProblem on_problem)
    : executor_(std::move(executor)),
      on_view_(std::move(on_view)),
      on_problem_(std::move(on_problem)),
      turn_(executor_),
      tasks_(executor_) {}

void PatroniWatch::configure(Settings settings) {
  if (settings.from != settings_.from) {
    first_ = 0;
    status_ = {};
  }
  settings_ = std::move(settings);
  ++generation_;
  if (!running_ && !settings_.from.empty()) {
    running_ = true;
    tasks_.spawn("patroni", run());
  }
  hurried_ = true;
  turn_.cancel();
}

void PatroniWatch::ask_now() {
  hurried_ = true;
  turn_.cancel();
}

asio::awaitable<void> PatroniWatch::stop() {
  co_await tasks_.stop();
}

asio::awaitable<void> PatroniWatch::run() {
  co_await asio::this_coro::throw_if_cancelled(false);
  while (!tasks_.stopping() && !settings_.from.empty()) {
    const Clock::time_point began = Clock::now();
    const std::uint64_t generation = generation_;
    hurried_ = false;
    std::optional<ClusterView> view = co_await ask();
    if (tasks_.stopping()) break;
    if (generation == generation_) tell(std::move(view));
    // Two waits: one that a hurry may cut short, and one that it may not.
    while (!tasks_.stopping()) {
      const auto until = began + (hurried_ ? std::min(kHurryMin, settings_.interval) : settings_.interval);
      if (Clock::now() >= until) break;
      turn_.expires_at(until);
      co_await turn_.async_wait(asio::experimental::as_tuple(asio::use_awaitable));
    }
  }
  running_ = false;
}

void PatroniWatch::tell(std::optional<ClusterView> view) {
  const bool first = status_.good + status_.failed == 0;
  if (view) {
    ++status_.good;
    status_.answered = Clock::now();
    if (first || !status_.problem.empty())
      log::info("patroni answers", {{"source", status_.source}, {"members", view->members.size()}});
    status_.problem.clear();
    on_view_(*view);
    return;
  }
  ++status_.failed;
  if (found_wrong_ != status_.problem)
    log::warning("patroni does not answer",
                 {{"reason", found_wrong_},
                  {"view", status_.answered ? "the last one is kept" : "there is none yet"}});
  status_.problem = found_wrong_;
  on_problem_();
}

// The first good answer, the addresses tried in turn.
asio::awaitable<std::optional<ClusterView>> PatroniWatch::ask() {
  const Settings settings = settings_;
  const std::size_t count = settings.from.size();
  found_wrong_.clear();
  for (std::size_t i = 0; i < count && !tasks_.stopping(); ++i) {
    const std::size_t place = (first_ + i) % count;
    mirror::Source source = settings.from[place];
    const std::string address = source.authority();
    mirror::FetchLimits limits;
    limits.timeout = settings.timeout;
    limits.body_bytes_max = kPatroniAnswerBytesMax;
    std::shared_ptr<const net::TlsContext> tls = settings.tls;
    auto answer = co_await mirror::fetch(std::move(source), limits, std::move(tls));
    std::string problem;
    if (auto* const wrong = std::get_if<mirror::Problem>(&answer)) {
      problem = std::move(wrong->sentence);
    } else if (auto view = parse_cluster(std::get<mirror::Body>(answer).text, problem)) {
      first_ = place;
      status_.source = address;
      co_return view;
    }
    found_wrong_ += (found_wrong_.empty() ? "" : "; ") + address + ": " + problem;
  }
  co_return std::nullopt;
}

}  // namespace sluice::cluster
