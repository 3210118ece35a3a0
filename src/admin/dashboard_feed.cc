#include "admin/dashboard_feed.h"

#include <algorithm>
#include <utility>

#include <asio/experimental/as_tuple.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include "admin/dashboard_json.h"
#include "admin/views.h"

namespace sluice::admin {
namespace {

using Clock = std::chrono::steady_clock;

std::string decisions_json(const Snapshot& snapshot, const ViewContext& context) {
  return views_json({find_view("DECISIONS"), find_view("ROLE_CHANGES")}, snapshot, context);
}

}  // namespace

DashboardFeed::DashboardFeed(asio::any_io_executor executor, std::size_t viewers_max, RouterView& view,
                             Gather gather, CommandsOffered commands_offered)
    : executor_(executor),
      view_(view),
      gather_(std::move(gather)),
      commands_offered_(std::move(commands_offered)),
      events_(executor, viewers_max),
      timer_(executor),
      tasks_(executor) {}

void DashboardFeed::start() {
  tasks_.spawn("dashboard feed", run());
}

asio::awaitable<void> DashboardFeed::stop() {
  events_.close();
  co_await tasks_.stop();
}

std::shared_ptr<http::EventViewer> DashboardFeed::admit() {
  if (has_room() && events_.viewer_count() == 0) {
    events_.forget();  // what was published for viewers before is old
    decisions_sent_.reset();
    begin_again_ = true;
    timer_.cancel();
  }
  return events_.admit();
}

std::string DashboardFeed::overview_of(const Snapshot& snapshot) const {
  return overview_json(snapshot, view_.version(), commands_offered_() ? Commands::WithToken : Commands::Off);
}

asio::awaitable<std::optional<std::string>> DashboardFeed::overview() {
  if (overview_ && Clock::now() - overview_made_ < kInterval) co_return overview_;
  const auto snapshot = co_await gather_(Part::Overview);
  if (!snapshot) co_return std::nullopt;
  overview_ = overview_of(*snapshot);
  overview_made_ = Clock::now();
  co_return overview_;
}

const std::string& DashboardFeed::history() {
  const std::uint64_t newest = history_.samples().empty() ? 0 : history_.samples().back().number;
  if (history_text_.empty() || history_number_ != newest) {
    history_text_ = history_json(history_, History::kSamplesMax);
    history_number_ = newest;
  }
  return history_text_;
}

asio::awaitable<void> DashboardFeed::run() {
  co_await asio::this_coro::throw_if_cancelled(false);
  for (int turn = 0; !tasks_.stopping(); ++turn) {
    if (std::exchange(begin_again_, false)) turn = 0;
    co_await look(turn);
    if (tasks_.stopping() || begin_again_) continue;
    timer_.expires_after(kInterval);
    co_await timer_.async_wait(asio::experimental::as_tuple(asio::use_awaitable));
  }
}

asio::awaitable<void> DashboardFeed::look(int turn) {
  const bool watched = events_.viewer_count() > 0;
  const bool due = Clock::now() - sampled_ >= History::kStep;
  if (!watched && !due) co_return;
  const auto snapshot = co_await gather_(Part::Overview);
  if (!snapshot || tasks_.stopping()) co_return;
  if (due) {
    sampled_ = std::max<Clock::time_point>(sampled_ + History::kStep, Clock::now() - kInterval);
    history_.add(view_.now(), *snapshot);
    events_.publish("sample", history_json(history_, 1));
  }
  if (watched) {
    overview_ = overview_of(*snapshot);
    overview_made_ = Clock::now();
    events_.publish("overview", *overview_);
    publish_decisions(*snapshot);
    if (turn % kRoutesEvery == 0) co_await look_at(Part::Routes);
    if (turn % kRttEvery == 0) co_await look_at(Part::Rtt);
  }
  // Whoever stays sees by other means how it ends, or finds the process that follows.
  if (snapshot->state.shutting_down) events_.close();
}

// Most seconds of a quiet router bring none.
void DashboardFeed::publish_decisions(const Snapshot& snapshot) {
  const auto newest = [](const auto& rows) { return rows.empty() ? std::uint64_t{0} : rows.back().number; };
  const Newest now{newest(snapshot.decisions), newest(snapshot.role_changes), snapshot.role_changes.size()};
  if (now == decisions_sent_) return;
  decisions_sent_ = now;
  const ViewContext context{view_.now(), view_.version()};
  events_.publish("decisions", decisions_json(snapshot, context));
}

asio::awaitable<void> DashboardFeed::look_at(Part part) {
  const auto snapshot = co_await gather_(part);
  if (!snapshot || tasks_.stopping()) co_return;
  const ViewContext context{view_.now(), view_.version()};
  if (part == Part::Routes) events_.publish("routes", views_json({find_view("ROUTES")}, *snapshot, context));
  if (part == Part::Rtt) events_.publish("rtt", rtt_matrix_json(snapshot->rtt));
}

}  // namespace sluice::admin
