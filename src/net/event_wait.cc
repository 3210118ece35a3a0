#include "net/event_wait.h"

namespace sluice::net {

EventWait*& event_wait_of_this_thread() noexcept {
  thread_local constinit EventWait* wait = nullptr;
  return wait;
}

int wait_for_events(int epoll, epoll_event* events, int room, int timeout_ms) {
  if (EventWait* const wait = event_wait_of_this_thread()) return wait->wait(epoll, events, room, timeout_ms);
  return ::epoll_wait(epoll, events, room, timeout_ms);
}

}  // namespace sluice::net
