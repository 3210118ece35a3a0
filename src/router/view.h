#pragma once

#include <memory>

#include <asio/any_io_executor.hpp>

#include "admin/router_view.h"
#include "router/past_minute.h"

namespace sluice::router {

class Router;

// What admin sees of the router, for one thread: that of `home`. Answers that need other threads are gathered
// there by post and come back by post.
class View final : public admin::RouterView {
 public:
  // `router` outlives the view.
  View(Router& router, asio::any_io_executor home) : router_(router), home_(std::move(home)) {}

  std::string version() const override;
  admin::WallTime now() const override;
  void gather(admin::Part part, SnapshotDone done) override;
  void reload(CommandDone done) override;
  void set_draining(std::string replica, admin::Draining draining, CommandDone done) override;
  void kill_client(std::uint64_t id, CommandDone done) override;
  void pause(DatabaseName database, CommandDone done) override;
  void resume(DatabaseName database, CommandDone done) override;
  void kill_database(DatabaseName database, CommandDone done) override;
  void reconnect(DatabaseName database, CommandDone done) override;
  void wait_close(DatabaseName database, CommandDone done) override;
  void set_availability(std::string database, admin::Availability availability, CommandDone done) override;
  void set_option(std::string key, std::string value, CommandDone done) override;
  void command_refused(std::string_view command, admin::CommandRefusal why, const std::string& peer) override;
  void shutdown(admin::ShutdownMode mode, CommandDone done) override;

 private:
  bool knows(const DatabaseName& database, const CommandDone& done) const;
  void drop_idle(const DatabaseName& database);

  Router& router_;
  asio::any_io_executor home_;
  PastMinute past_minute_;  // as seen by those who ask for overviews here
};

}  // namespace sluice::router
