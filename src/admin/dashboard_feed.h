#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>

#include <asio/any_io_executor.hpp>
#include <asio/awaitable.hpp>
#include <asio/steady_timer.hpp>

#include "admin/history.h"
#include "admin/router_view.h"
#include "http/event_feed.h"
#include "net/task_group.h"

namespace sluice::admin {

// Looks at the router for the dashboard: a sample for the history every ten seconds, and once a second what
// its viewers see, as long as there are any. Each document is made once and sent to all. Events: overview,
// decisions (with role changes), routes, rtt, sample, each with the document of the same name. Shape:
// viewers_max streams. Memory: one text per kind of event, and the history. Thread: that of the executor,
// which must be one thread's. Lifetime: started once, and then stop() is awaited before destruction.
class DashboardFeed {
 public:
  static constexpr std::chrono::seconds kInterval{1};
  static constexpr int kRoutesEvery = 5;  // intervals
  static constexpr int kRttEvery = 10;

  using Gather = std::function<asio::awaitable<std::optional<Snapshot>>(Part)>;
  using CommandsOffered = std::function<bool()>;

  DashboardFeed(asio::any_io_executor executor, std::size_t viewers_max, RouterView& view, Gather gather,
                CommandsOffered commands_offered);
  DashboardFeed(const DashboardFeed&) = delete;
  DashboardFeed& operator=(const DashboardFeed&) = delete;

  void start();
  asio::awaitable<void> stop();

  // Whether admit() gives a viewer: not when there are too many, or the router is shutting down.
  bool has_room() const noexcept { return events_.has_room(); }
  std::shared_ptr<http::EventViewer> admit();
  // The overview, made at most once per interval however often it is asked for; nullopt when the router is
  // silent.
  asio::awaitable<std::optional<std::string>> overview();
  const std::string& history();

 private:
  asio::awaitable<void> run();
  asio::awaitable<void> look(int turn);
  asio::awaitable<void> look_at(Part part);
  void publish_decisions(const Snapshot& snapshot);
  std::string overview_of(const Snapshot& snapshot) const;

  asio::any_io_executor executor_;
  RouterView& view_;
  Gather gather_;
  CommandsOffered commands_offered_;
  http::EventFeed events_;
  History history_;
  std::string history_text_;  // of the sample history_number_
  std::uint64_t history_number_ = 0;
  std::optional<std::string> overview_;
  std::chrono::steady_clock::time_point overview_made_{}, sampled_{};
  bool begin_again_ = false;  // a first viewer has come
  // Numbers of the newest decision and role change that were published, and how many changes there were, as
  // old ones go; nothing since the first viewer came.
  using Newest = std::tuple<std::uint64_t, std::uint64_t, std::size_t>;
  std::optional<Newest> decisions_sent_;
  asio::steady_timer timer_;
  net::TaskGroup tasks_;
};

}  // namespace sluice::admin
