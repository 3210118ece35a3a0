#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include <asio/any_io_executor.hpp>
#include <asio/steady_timer.hpp>

#include "admin/router_view.h"

namespace sluice::router {

class Router;
class Session;

// Waits until no session of any thread is as it is described: for commands of the console that are done only
// then. Lives on the control thread, by itself, and looks a few times a second: what it waits for takes as
// long as clients take, and a count kept by every session would cost each of them.
class Settling : public std::enable_shared_from_this<Settling> {
 public:
  struct Settings {
    std::function<bool(const Session&)> until_none;  // called on the threads of the sessions
    // On the control thread: what to answer instead of waiting on; ok() means wait on. May be empty.
    std::function<admin::CommandResult()> interrupted;
  };
  // Any thread. `done` is called on `home`, once: with success, what interrupted says, or 57P01 when the
  // router ends. Not at all when the router has ended before.
  static void start(Router& router, asio::any_io_executor home, Settings settings,
                    admin::RouterView::CommandDone done);

  Settling(Router& router, asio::any_io_executor home, Settings settings,
           admin::RouterView::CommandDone done);

 private:
  void look();
  void counted(std::size_t left);
  void answer(admin::CommandResult result);

  Router& router_;
  asio::any_io_executor home_;
  Settings settings_;
  admin::RouterView::CommandDone done_;
  asio::steady_timer timer_;
};

}  // namespace sluice::router
