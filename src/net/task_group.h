#pragma once

#include <cstddef>
#include <list>

#include <asio/any_io_executor.hpp>
#include <asio/awaitable.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/steady_timer.hpp>

namespace sluice::net {

// Owns coroutines that run beside each other on one thread. The group must outlive them: stop() and await it
// before destruction; the destructor asserts that none is left. A coroutine that ends by an exception, other
// than its cancellation by stop(), is a fault of ours: its name is printed, the program ends. Coroutines are
// cancelled with cancellation_type::terminal.
class TaskGroup {
 public:
  explicit TaskGroup(asio::any_io_executor executor);
  TaskGroup(const TaskGroup&) = delete;
  TaskGroup& operator=(const TaskGroup&) = delete;
  ~TaskGroup();

  // Starts `task` on the group's executor. `name` must be a literal: it is for the message before an abort.
  // After stop() the task is dropped without having run, and false returned.
  bool spawn(const char* name, asio::awaitable<void> task);

  std::size_t size() const noexcept { return tasks_.size(); }
  bool stopping() const noexcept { return stopping_; }

  // Refuses new tasks, cancels those that run and returns when none is left. Cancels again every while, since
  // a cancellation that falls between two operations of a task is lost on it. Not to be called from a task of
  // the group.
  asio::awaitable<void> stop();
  // Returns when no task is left, without cancelling any; new ones may still be spawned.
  asio::awaitable<void> wait();

 private:
  struct Task {
    explicit Task(const char* task_name) : name(task_name) {}
    const char* name;
    asio::cancellation_signal signal;
  };
  void cancel_all();

  asio::any_io_executor executor_;
  std::list<Task> tasks_;
  bool stopping_ = false;
  asio::steady_timer empty_;  // cancelled when the last task ends
};

}  // namespace sluice::net
