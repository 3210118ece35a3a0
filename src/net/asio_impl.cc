// Asio's own code, compiled here once: every other file sees declarations only (ASIO_SEPARATE_COMPILATION).
#include <asio/version.hpp>

#include "net/event_wait.h"

static_assert(ASIO_VERSION / 100 == 1022,
              "net/event_wait was read against the reactor of Asio 1.22: look at epoll_reactor::run()");

#define epoll_wait sluice::net::wait_for_events
#include <asio/impl/src.hpp>
