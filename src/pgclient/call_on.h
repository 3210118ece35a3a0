#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include <asio/any_io_executor.hpp>
#include <asio/awaitable.hpp>
#include <asio/co_spawn.hpp>
#include <asio/experimental/as_tuple.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include "base/assert.h"
#include "base/error.h"
#include "base/result.h"

namespace sluice::pgclient {

namespace detail {

template <class T>
struct Call {
  explicit Call(const asio::any_io_executor& here)
      : answered(here, std::chrono::steady_clock::time_point::max()) {}
  asio::steady_timer answered;
  std::optional<Result<T>> result;
};

template <class T>
asio::awaitable<void> run_call(std::function<asio::awaitable<Result<T>>()> task,
                               std::shared_ptr<Call<T>> call, asio::any_io_executor home) {
  Result<T> result = co_await task();
  asio::post(home, [call = std::move(call), result = std::move(result)]() mutable {
    call->result = std::move(result);
    call->answered.cancel();
  });
}

}  // namespace detail

// Runs `task` on another thread's executor and returns its result on this one. A cancellation ends the wait
// with BaseErrc::Cancelled and leaves the task running: signals must not cross threads. So the task has to
// end by itself, and both io_contexts have to outlive it.
template <class T>
asio::awaitable<Result<T>> call_on(asio::any_io_executor there,
                                   std::function<asio::awaitable<Result<T>>()> task) {
  co_await asio::this_coro::throw_if_cancelled(false);
  const auto here = co_await asio::this_coro::executor;
  auto call = std::make_shared<detail::Call<T>>(here);
  asio::co_spawn(there, detail::run_call<T>(std::move(task), call, here),
                 [](const std::exception_ptr& fault) { SLUICE_ASSERT(fault == nullptr); });
  co_await call->answered.async_wait(asio::experimental::as_tuple(asio::use_awaitable));
  if (!call->result) co_return Error(BaseErrc::Cancelled);
  co_return std::move(*call->result);
}

}  // namespace sluice::pgclient
