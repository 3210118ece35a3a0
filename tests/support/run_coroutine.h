#pragma once

#include <exception>
#include <optional>
#include <utility>

#include <asio/awaitable.hpp>
#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>

namespace sluice::tests {

namespace detail {
template <class T>
asio::awaitable<void> keep_result(asio::awaitable<T> task, std::optional<T>* out) {
  out->emplace(co_await std::move(task));
}
}  // namespace detail

// Runs the context until it has nothing left to do; gives the coroutine's result or throws its exception.
template <class T>
T run_coroutine(asio::io_context& context, asio::awaitable<T> task) {
  std::optional<T> result;
  std::exception_ptr fault;
  asio::co_spawn(context, detail::keep_result(std::move(task), &result),
                 [&](std::exception_ptr e) { fault = std::move(e); });
  context.restart();
  context.run();
  if (fault) std::rethrow_exception(fault);
  return std::move(*result);
}

}  // namespace sluice::tests
