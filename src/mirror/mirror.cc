#include "mirror/mirror.h"

#include <utility>

#include <asio/experimental/as_tuple.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include "profile/json.h"
#include "telemetry/log.h"

namespace sluice::mirror {

Mirror::Mirror(asio::any_io_executor executor, Settings settings)
    : executor_(std::move(executor)), settings_(std::move(settings)), tasks_(executor_) {}

Result<void> Mirror::open(std::string& problem) {
  auto opened = shm::ProfileWriter::open(settings_.to, problem);
  if (!opened) return opened.error();
  writer_.emplace(*std::move(opened));
  return {};
}

void Mirror::start() {
  tasks_.spawn("mirror", run());
}

asio::awaitable<void> Mirror::stop() {
  co_await tasks_.stop();
  writer_.reset();  // readers see that it has ended in order
}

asio::awaitable<void> Mirror::run() {
  co_await asio::this_coro::throw_if_cancelled(false);
  asio::steady_timer timer(executor_);
  while (!tasks_.stopping()) {
    timer.expires_after(settings_.to.interval);
    std::string problem = co_await copy();
    if (tasks_.stopping()) co_return;
    if (problem.empty()) {
      ++status_.good;
      status_.last = std::chrono::steady_clock::now();
    } else {
      ++status_.failed;
      writer_->beat();
    }
    if (problem != status_.problem) {
      if (problem.empty()) {
        log::info("the profile is mirrored again", {{"from", settings_.from.authority()}});
      } else {
        log::warning("the profile is not mirrored",
                     {{"from", settings_.from.authority()}, {"reason", problem}});
      }
    }
    status_.problem = std::move(problem);
    co_await timer.async_wait(asio::experimental::as_tuple(asio::use_awaitable));
  }
}

// One fetch into the segment; what went wrong, or "".
asio::awaitable<std::string> Mirror::copy() {
  // Before the question: what the answer took on its way makes contents look older, never younger.
  const auto asked = std::chrono::steady_clock::now();
  Source source = settings_.from;
  std::shared_ptr<const net::TlsContext> plain;
  auto answer = co_await fetch(std::move(source), settings_.limits, std::move(plain));
  if (auto* const problem = std::get_if<Problem>(&answer)) co_return std::move(problem->sentence);
  const auto profile = profile::from_json(std::get<Body>(answer).text, asked);
  if (!profile) co_return std::string("the answer is no profile");
  // A mirror of a mirror says how old its copy is; a router always says.
  const profile::Moment contents_at =
      profile->publication.contents_at == profile::Moment{} ? asked : profile->publication.contents_at;
  std::string problem;
  if (!writer_->publish(profile->contents, contents_at, problem)) co_return problem;
  co_return std::string();
}

}  // namespace sluice::mirror
