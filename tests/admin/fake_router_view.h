#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "admin/router_view.h"

namespace sluice::admin::testing {

// A router with one of everything. Answers at once, or when the test says so; writes down what it was told to
// do.
class FakeRouterView final : public RouterView {
 public:
  FakeRouterView() { fill(); }

  std::string version() const override { return "0.1.0"; }
  WallTime now() const override { return WallTime(std::chrono::seconds(1'000'000'000)); }

  void gather(Part part, SnapshotDone done) override {
    gathered.push_back(part);
    answer([this, done = std::move(done)] { done(snapshot); });
  }
  void reload(CommandDone done) override { command("reload", std::move(done)); }
  void set_draining(std::string replica, Draining draining, CommandDone done) override {
    command((draining == Draining::On ? "drain " : "undrain ") + replica, std::move(done));
  }
  void kill_client(std::uint64_t id, CommandDone done) override {
    command("kill_client " + std::to_string(id), std::move(done));
  }
  void pause(DatabaseName database, CommandDone done) override {
    command("pause " + database.value_or("(all)"), std::move(done));
  }
  void resume(DatabaseName database, CommandDone done) override {
    command("resume " + database.value_or("(all)"), std::move(done));
  }
  void kill_database(DatabaseName database, CommandDone done) override {
    command("kill " + database.value_or("(all)"), std::move(done));
  }
  void reconnect(DatabaseName database, CommandDone done) override {
    command("reconnect " + database.value_or("(all)"), std::move(done));
  }
  void wait_close(DatabaseName database, CommandDone done) override {
    command("wait_close " + database.value_or("(all)"), std::move(done));
  }
  void set_availability(std::string database, Availability availability, CommandDone done) override {
    command((availability == Availability::Enabled ? "enable " : "disable ") + database, std::move(done));
  }
  void set_option(std::string key, std::string value, CommandDone done) override {
    command("set " + key + " " + value, std::move(done));
  }
  void command_refused(std::string_view name, CommandRefusal why, const std::string& peer) override {
    refusals.push_back({std::string(name), why, peer});
  }
  void shutdown(ShutdownMode mode, CommandDone done) override {
    command("shutdown " + std::to_string(static_cast<int>(mode)), std::move(done));
  }

  // Gives the oldest answer that is held back.
  void release() {
    const auto next = std::move(held.front());
    held.pop_front();
    next();
  }

  bool hold = false;  // keep answers back until release()
  Snapshot snapshot;
  CommandResult result;  // of every command
  std::vector<std::string> commands;
  struct Refusal {
    std::string command;
    CommandRefusal why;
    std::string peer;
  };
  std::vector<Refusal> refusals;
  std::vector<Part> gathered;
  std::deque<std::function<void()>> held;

 private:
  void answer(std::function<void()> give) {
    if (hold) {
      held.push_back(std::move(give));
    } else {
      give();
    }
  }
  void command(std::string what, CommandDone done) {
    commands.push_back(std::move(what));
    answer([this, done = std::move(done)] { done(result); });
  }

  void fill() {
    ReplicaRow replica;
    replica.name = "r0";
    replica.host = "10.0.0.1";
    replica.port = 5432;
    replica.role = "replica";
    replica.pool = "premium";
    replica.borrowed = true;
    replica.up = true;
    replica.sessions = 5;  // one of a class that is gone
    replica.loads = {{"premium", 3}, {"freemium", 1}};
    replica.lag = std::chrono::milliseconds(12);
    snapshot.replicas = {replica};
    ClusterRow found;
    found.source = "primary";
    found.name = "r0";
    found.up = true;
    snapshot.cluster = {found};
    ClassRow premium;
    premium.name = "premium";
    premium.saturation = 10;
    premium.return_ratio = "0.60";
    premium.outcomes = {{"own", 7}};
    premium.response.median = Micros(250);
    snapshot.classes = {premium};
    BudgetRow budget;
    budget.name = "reports";
    budget.mode = "warn";
    budget.active_share = "0.25";
    budget.busy = 1.5;
    snapshot.budgets = {budget};
    ConnectionRow client;
    client.id = 7;
    client.link = 5;
    client.user = "anna";
    client.database = "shop";
    client.state = "active";
    client.wait = Micros(2'000'003);
    client.connect_time = now();
    client.application_name = "caf\xe9";  // Latin-1, not UTF-8
    snapshot.clients = {client};
    ConnectionRow server = client;
    server.id = 5;
    server.link = 7;
    snapshot.servers = {server};
    PoolRow pool;
    pool.database = "shop";
    pool.user = "anna";
    pool.cl_active = 4;
    pool.maxwait = Micros(1'500'000);
    snapshot.pools = {pool};
    HostRow host;
    host.name = "compute-a";
    host.rtt = Micros(300);
    snapshot.hosts = {host};
    RttRow rtt;
    rtt.host = "compute-a";
    rtt.server = "r0";
    rtt.rtt = Micros(700);
    snapshot.rtt = {rtt};
    snapshot.profile = R"({"publication":{}})";
    RouteRow route;
    route.name = "/feed";
    route.n_serial_mean = 3.25;
    route.n_serial_median = 3;
    route.untraced_share = 0.125;
    snapshot.routes = {route};
    DecisionRow decision;
    decision.number = 1;
    decision.time = now();
    decision.client = 7;
    decision.replica = "r0";
    decision.outcome = "borrowed_mixed";
    decision.changes = {{"r0", "mixed", "premium", "borrow"}};
    snapshot.decisions = {decision};
    StatsRow stats;
    stats.database = "shop";
    stats.total.query_count = 100;
    stats.average.query_count = 10;
    snapshot.stats = {stats, stats};
    snapshot.lists.pools = 1;
    DatabaseRow database;
    database.name = "shop";
    database.target = "replicas";
    snapshot.databases = {database};
    UserRow user;
    user.name = "anna";
    snapshot.users = {user};
    ConfigRow option;
    option.key = "max_client_conn";
    option.value = "200";
    option.default_value = "100";
    option.changeable = true;
    snapshot.config = {option};
    snapshot.state.ready = true;
  }
};

}  // namespace sluice::admin::testing
