#include "pgclient/query_pool.h"

#include <algorithm>
#include <utility>

#include <asio/experimental/as_tuple.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include "base/error.h"

namespace sluice::pgclient {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kAwaitTurn = asio::experimental::as_tuple(asio::use_awaitable);

}  // namespace

// One of the connections_max places; gives it to the next who waits, also when the coroutine is destroyed.
class QueryPool::Slot {
 public:
  explicit Slot(QueryPool& pool) : pool_(pool) { ++pool_.in_use_; }
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;
  ~Slot() {
    --pool_.in_use_;
    if (pool_.waiting_.empty()) return;
    pool_.waiting_.front()->cancel();
    pool_.waiting_.pop_front();
  }

 private:
  QueryPool& pool_;
};

asio::awaitable<bool> QueryPool::wait_for_slot(Clock::time_point deadline) {
  while (in_use_ >= std::max<std::size_t>(settings_.connections_max, 1)) {
    if (waiting_.size() >= settings_.waiting_max || Clock::now() >= deadline) co_return false;
    auto turn = std::make_shared<asio::steady_timer>(co_await asio::this_coro::executor, deadline);
    waiting_.push_back(turn);
    co_await turn->async_wait(kAwaitTurn);
    std::erase(waiting_, turn);
    const auto state = co_await asio::this_coro::cancellation_state;
    if (state.cancelled() == asio::cancellation_type::none) continue;
    // The turn that this coroutine may have been given goes to the next.
    if (!waiting_.empty()) waiting_.front()->cancel();
    co_return false;
  }
  co_return true;
}

asio::awaitable<PgResult<Client>> QueryPool::connect_any(Settings settings) {
  PgError last = failure(make_error_code(PgErrc::ConnectFailed));
  const std::size_t first = preferred_;
  for (std::size_t i = 0; i < settings.servers.size(); ++i) {
    const std::size_t server = (first + i) % settings.servers.size();
    auto client = co_await Client::connect(settings.servers[server], settings.connect_timeout);
    if (client) {
      preferred_ = server;
      co_return std::move(client);
    }
    last = client.error();
    if (last.error.code == BaseErrc::Cancelled) break;
  }
  co_return last;
}

asio::awaitable<PgResult<Rows>> QueryPool::query(std::string sql,
                                                 std::vector<std::optional<std::string>> params) {
  co_await asio::this_coro::throw_if_cancelled(false);
  if (!co_await wait_for_slot(Clock::now() + settings_.connect_timeout))
    co_return failure(make_error_code(PgErrc::PoolBusy));
  const Slot slot(*this);
  const Settings settings = settings_;
  const std::size_t generation = generation_;
  const auto keep = [&](Client&& client) {
    if (client.usable() && generation == generation_) idle_.push_back(std::move(client));
  };
  if (!idle_.empty()) {
    Client kept = std::move(idle_.back());
    idle_.pop_back();
    if (!kept.has_pending_input()) {
      auto rows = co_await kept.query(sql, params, settings.query_timeout);
      const bool lost = !rows && rows.error().error.code == PgErrc::ConnectionLost;
      if (!lost) {
        keep(std::move(kept));
        co_return rows;
      }
    }
  }
  auto fresh = co_await connect_any(settings);
  if (!fresh) co_return fresh.error();
  auto rows = co_await fresh->query(std::move(sql), std::move(params), settings.query_timeout);
  keep(std::move(*fresh));
  co_return rows;
}

void QueryPool::reconfigure(Settings settings) {
  settings_ = std::move(settings);
  ++generation_;
  preferred_ = 0;
  idle_.clear();
}

}  // namespace sluice::pgclient
