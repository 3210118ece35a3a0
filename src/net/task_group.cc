#include "net/task_group.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <system_error>

#include <asio/bind_cancellation_slot.hpp>
#include <asio/co_spawn.hpp>
#include <asio/error.hpp>
#include <asio/experimental/as_tuple.hpp>
#include <asio/use_awaitable.hpp>

#include "base/assert.h"

namespace sluice::net {
namespace {

constexpr std::chrono::milliseconds kCancelAgainAfter{100};

// What a task that never came to run throws when it is cancelled: it had no chance to ask for error codes
// instead.
bool is_cancellation(const std::exception_ptr& failure) noexcept {
  try {
    std::rethrow_exception(failure);
  } catch (const std::system_error& e) {
    return e.code() == asio::error::operation_aborted;
  } catch (...) {
    return false;
  }
}

[[noreturn]] void task_failed(const char* name, const std::exception_ptr& failure) noexcept {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "sluice: internal error: task %s ended by an exception: %s\n", name, e.what());
  } catch (...) {
    std::fprintf(stderr, "sluice: internal error: task %s ended by an exception\n", name);
  }
  std::abort();
}

}  // namespace

TaskGroup::TaskGroup(asio::any_io_executor executor) : executor_(std::move(executor)), empty_(executor_) {}

TaskGroup::~TaskGroup() {
  SLUICE_ASSERT(tasks_.empty());
}

bool TaskGroup::spawn(const char* name, asio::awaitable<void> task) {
  if (stopping_) return false;
  tasks_.emplace_back(name);
  const auto place = std::prev(tasks_.end());
  asio::co_spawn(
      executor_, std::move(task),
      asio::bind_cancellation_slot(place->signal.slot(), [this, place](const std::exception_ptr& failure) {
        if (failure && !(stopping_ && is_cancellation(failure))) task_failed(place->name, failure);
        tasks_.erase(place);
        if (tasks_.empty()) empty_.cancel();
      }));
  return true;
}

void TaskGroup::cancel_all() {
  for (auto task = tasks_.begin(); task != tasks_.end();) {
    const auto current = task++;
    current->signal.emit(asio::cancellation_type::terminal);
  }
}

asio::awaitable<void> TaskGroup::stop() {
  stopping_ = true;
  while (!tasks_.empty()) {
    cancel_all();
    if (tasks_.empty()) break;
    empty_.expires_after(kCancelAgainAfter);
    co_await empty_.async_wait(asio::experimental::as_tuple(asio::use_awaitable));
  }
}

asio::awaitable<void> TaskGroup::wait() {
  while (!tasks_.empty()) {
    empty_.expires_after(kCancelAgainAfter);
    co_await empty_.async_wait(asio::experimental::as_tuple(asio::use_awaitable));
  }
}

}  // namespace sluice::net
