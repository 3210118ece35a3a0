#include "router/settling.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <utility>

#include <asio/post.hpp>

#include "router/router.h"

namespace sluice::router {
namespace {

constexpr std::chrono::milliseconds kLookAgain{50};

struct Count {
  explicit Count(std::size_t workers) : missing(workers) {}
  std::atomic<std::size_t> left{0};
  std::atomic<std::size_t> missing;
};

}  // namespace

void Settling::start(Router& router, asio::any_io_executor home, Settings settings,
                     admin::RouterView::CommandDone done) {
  const auto self = std::make_shared<Settling>(router, std::move(home), std::move(settings), std::move(done));
  asio::post(router.control(), [self] { self->look(); });
}

Settling::Settling(Router& router, asio::any_io_executor home, Settings settings,
                   admin::RouterView::CommandDone done)
    : router_(router),
      home_(std::move(home)),
      settings_(std::move(settings)),
      done_(std::move(done)),
      timer_(router.control()) {}

void Settling::look() {
  if (router_.shared().shutting_down.load())
    return answer({"57P01", "the router is shutting down", "", "", {}});
  if (settings_.interrupted) {
    if (admin::CommandResult result = settings_.interrupted(); !result.ok()) return answer(std::move(result));
  }
  const auto& workers = router_.shared().workers;
  const auto count = std::make_shared<Count>(workers.size());
  for (const auto& worker : workers) {
    asio::post(worker->context(), [self = shared_from_this(), count, &sessions = worker->sessions()] {
      const auto here = std::count_if(sessions.begin(), sessions.end(), [&](const auto& entry) {
        return self->settings_.until_none(*entry.second);
      });
      count->left.fetch_add(static_cast<std::size_t>(here), std::memory_order_relaxed);
      if (count->missing.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
      asio::post(self->router_.control(), [self, count] { self->counted(count->left.load()); });
    });
  }
}

void Settling::counted(std::size_t left) {
  if (left == 0) return answer({});
  timer_.expires_after(kLookAgain);
  timer_.async_wait([self = shared_from_this()](const asio::error_code& ec) {
    if (!ec) self->look();
  });
}

void Settling::answer(admin::CommandResult result) {
  asio::post(home_, [done = std::move(done_), result = std::move(result)] { done(result); });
}

}  // namespace sluice::router
