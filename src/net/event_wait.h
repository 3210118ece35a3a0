#pragma once

#include <sys/epoll.h>

namespace sluice::net {

// What a thread blocks in while its event loop has nothing to do, in place of epoll_wait(2): Asio is compiled
// to call wait_for_events() (asio_impl.cc). Without it a thread could wait for its loop alone, and all else
// would have to wake that by a descriptor, at two system calls instead of one.
class EventWait {
 public:
  EventWait() = default;
  EventWait(const EventWait&) = delete;
  EventWait& operator=(const EventWait&) = delete;

  // As epoll_wait(2): events of `epoll`, at most `room`, or 0 after `timeout_ms` (-1: none) or whenever the
  // loop is to look round. Called by the loop that runs on this thread, not within one of its handlers.
  virtual int wait(int epoll, epoll_event* events, int room, int timeout_ms) = 0;

 protected:
  ~EventWait() = default;
};

// Of the calling thread, null for epoll_wait(2) itself.
EventWait*& event_wait_of_this_thread() noexcept;

int wait_for_events(int epoll, epoll_event* events, int room, int timeout_ms);

}  // namespace sluice::net
