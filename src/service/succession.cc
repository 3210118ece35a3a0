#include "service/succession.h"

#include <utility>

#include <asio/experimental/as_tuple.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include "service/successor.h"
#include "telemetry/log.h"

namespace sluice::service {
namespace {

// Between two looks at the socket files.
constexpr std::chrono::milliseconds kFilesPause{200};

}  // namespace

Succession::Succession(asio::any_io_executor executor, Plan plan, std::string_view request,
                       TakeoverPoint::Callbacks callbacks)
    : executor_(std::move(executor)),
      plan_(std::move(plan)),
      request_(request),
      callbacks_(std::move(callbacks)),
      turn_(executor_),
      tasks_(executor_) {}

Succession::~Succession() = default;

std::optional<std::string> Succession::find_predecessor() {
  if (plan_.path.empty()) return std::nullopt;
  std::string problem;
  auto found = Predecessor::at(plan_.path, request_, problem);
  if (!found) return problem;
  if (!*found) return std::nullopt;
  predecessor_.emplace(std::move(**found));
  names_.emplace(predecessor_->files());
  return std::nullopt;
}

std::vector<std::string> Succession::cancel_paths() const {
  return predecessor_ ? predecessor_->cancel_paths() : std::vector<std::string>();
}

Succession::Begun Succession::begin() {
  if (plan_.path.empty()) return Begun::First;
  Begun begun = Begun::First;
  if (predecessor_) {
    using Answer = Predecessor::Answer;
    const Predecessor::Told told = predecessor_->serving();
    // One that is gone, or about to go, calls nothing off: without us nobody would serve.
    if (told.answer == Answer::CalledOff && Predecessor::waits_at(plan_.path)) {
      predecessor_.reset();
      names_.reset();
      log::error("not taken over: the former process goes on, this one ends",
                 {{"path", plan_.path}, {"reason", told.reason.message()}});
      return Begun::CalledOff;
    }
    predecessor_->abandon_rest();
    if (told.answer == Answer::Released) {
      names_.reset();
    } else {
      log::warning("the former process did not let go", {{"reason", told.reason.message()}});
      names_->keep_only(predecessor_->files());
      restore_files();
      tasks_.spawn("socket files", watch_files());
    }
    predecessor_.reset();
    log::info("took over", {{"path", plan_.path}});
    begun = Begun::TookOver;
  }
  point_ = std::make_unique<TakeoverPoint>(executor_, plan_.path, request_, callbacks_);
  std::string problem;
  if (!point_->start(problem)) log::error("no successor can take over", {{"reason", problem}});
  return begun;
}

void Succession::restore_files() {
  for (const std::string& file : names_->restore())
    log::warning("the former process had removed a socket file that is in use", {{"path", file}});
}

asio::awaitable<void> Succession::watch_files() {
  co_await asio::this_coro::throw_if_cancelled(false);
  const auto until = std::chrono::steady_clock::now() + kFilesWatched;
  while (names_ && std::chrono::steady_clock::now() < until) {
    restore_files();
    turn_.expires_after(kFilesPause);
    co_await turn_.async_wait(asio::experimental::as_tuple(asio::use_awaitable));
  }
  names_.reset();
}

void Succession::start_successor(std::string_view why_not) {
  if (plan_.path.empty()) why_not = "there is no --takeover";
  if (!why_not.empty()) return log::warning("no successor is started", {{"reason", why_not}});
  const auto started = service::start_successor(plan_.command);
  if (started) {
    log::info("successor started", {{"program", plan_.command.front()}});
  } else {
    log::error("no successor is started", {{"reason", started.error().code.message()}});
  }
}

// The files first, which the listening sockets are about to remove.
asio::awaitable<void> Succession::stop() {
  names_.reset();
  if (point_) co_await point_->stop();
  co_await tasks_.stop();
}

}  // namespace sluice::service
