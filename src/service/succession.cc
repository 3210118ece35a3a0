#include "service/succession.h"

#include <utility>

#include "service/successor.h"
#include "telemetry/log.h"

namespace sluice::service {

Succession::Succession(asio::any_io_executor executor, Plan plan, std::string_view request,
                       TakeoverPoint::Callbacks callbacks)
    : executor_(std::move(executor)),
      plan_(std::move(plan)),
      request_(request),
      callbacks_(std::move(callbacks)) {}

Succession::~Succession() = default;

std::optional<std::string> Succession::find_predecessor() {
  if (plan_.path.empty()) return std::nullopt;
  std::string problem;
  auto found = Predecessor::at(plan_.path, request_, problem);
  if (!found) return problem;
  if (*found) predecessor_.emplace(std::move(**found));
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
      log::error("not taken over: the former process goes on, this one ends",
                 {{"path", plan_.path}, {"reason", told.reason.message()}});
      return Begun::CalledOff;
    }
    if (told.answer != Answer::Released)
      log::warning("the former process did not let go", {{"reason", told.reason.message()}});
    predecessor_->abandon_rest();
    predecessor_.reset();
    log::info("took over", {{"path", plan_.path}});
    begun = Begun::TookOver;
  }
  point_ = std::make_unique<TakeoverPoint>(executor_, plan_.path, request_, callbacks_);
  std::string problem;
  if (!point_->start(problem)) log::error("no successor can take over", {{"reason", problem}});
  return begun;
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

asio::awaitable<void> Succession::stop() {
  if (point_) co_await point_->stop();
}

}  // namespace sluice::service
