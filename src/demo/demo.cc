#include "demo/demo.h"

#include <iostream>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "demo/cluster.h"
#include "demo/environment.h"
#include "demo/failure.h"
#include "demo/load.h"
#include "demo/placement.h"
#include "demo/router_process.h"
#include "demo/screen.h"
#include "demo/signals.h"
#include "demo/table.h"
#include "demo/watcher.h"

namespace sluice::demo {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::size_t kStandbys = 5;
// The defaults of router and placer, if they are free.
constexpr std::uint16_t kPort = 6432, kAdminPort = 9632, kPlacerPort = 8080, kPlacerAdminPort = 9633;
constexpr milliseconds kStep{100};          // how often the load is advanced
constexpr milliseconds kLookInterval{500};  // how often router and placer are asked
constexpr const char* kDatabase = "shop";

std::uint16_t router_port(const Options& options) {
  if (!options.port) return is_port_free(kPort) ? kPort : free_ports(1)[0];
  if (*options.port == 0) return free_ports(1)[0];
  if (!is_port_free(*options.port))
    throw Failure(fmt::format("port {} of 127.0.0.1 is taken; choose another with --port, or 0 for any",
                              *options.port));
  return *options.port;
}

struct Plan {
  RouterPlan router;
  PlacementPlan placement;
};

// The usual port, unless any will do: then another demo may be starting beside this one.
std::uint16_t usual_or(const Options& options, std::uint16_t usual, std::uint16_t other) {
  const bool any_port = options.port && *options.port == 0;
  const bool is_wanted = options.port && *options.port == usual;  // by the router
  return !any_port && !is_wanted && is_port_free(usual) ? usual : other;
}

Plan plan_all(const Options& options, const Folder& folder) {
  Plan plan;
  RouterPlan& router = plan.router;
  PlacementPlan& placement = plan.placement;
  placement.hosts = compute_hosts();
  std::vector<std::uint16_t> ports = free_ports(kStandbys + 1 + 3 + placement.hosts.size());
  const auto take = [&ports] {
    const std::uint16_t port = ports.back();
    ports.pop_back();
    return port;
  };
  router.program = placement.program = own_program();
  router.port = placement.router_port = router_port(options);
  router.admin_port = usual_or(options, kAdminPort, take());
  placement.port = usual_or(options, kPlacerPort, take());
  placement.admin_port = usual_or(options, kPlacerAdminPort, take());
  for (ComputeHost& host : placement.hosts) {
    host.port = take();
    router.hosts.push_back(host.name);
  }
  router.server_ports = std::move(ports);
  router.database = placement.database = kDatabase;
  router.premium = {"premium", random_password()};
  router.freemium = {"freemium", random_password()};
  router.app = placement.app = {"app", random_password()};
  router.admin = {"sluice_admin", random_password()};
  router.monitor = {"sluice_monitor", random_password()};
  router.profile_path = placement.profile_path = folder.file("sluice.profile");
  return plan;
}

std::string local_url(std::uint16_t port) {
  return fmt::format("http://127.0.0.1:{}/", port);
}

void say_dashboards(Screen& screen, const Plan& plan) {
  screen.say("Dashboard: " + local_url(plan.router.admin_port) +
             "   (pools, classes, response times, decisions, live)");
  screen.say("Placer:    " + local_url(plan.placement.admin_port) +
             "   (compute hosts, scores, where requests go)");
}

void say_addresses(Screen& screen, const Plan& plan, const Folder& folder) {
  const RouterPlan& router = plan.router;
  const auto url = [&](const User& user, const std::string& database) {
    return fmt::format("postgresql://{}:{}@127.0.0.1:{}/{}", user.name, user.password, router.port, database);
  };
  screen.say("");
  say_dashboards(screen, plan);
  screen.say("");
  screen.say("Try it (passwords are thrown away at the end):");
  screen.say("  premium    DATABASE_URL=" + url(router.premium, router.database));
  screen.say("  freemium   DATABASE_URL=" + url(router.freemium, router.database));
  screen.say("  writing    DATABASE_URL=" + url(router.premium, router.database + "_rw") +
             "   (target: primary)");
  screen.say("  console    psql " + url(router.admin, "sluice") + " -c 'SHOW REPLICAS'");
  screen.say(fmt::format("  a page     curl -i {}feed   (eight queries; X-Sluice-Host says where it ran)",
                         local_url(plan.placement.port)));
  screen.say(fmt::format("  admin      {}v1/overview   /metrics /readyz /v1/decisions",
                         local_url(router.admin_port)));
  screen.say("  logs       " + folder.path().string());
  screen.say("  a failure  kill -9 $(head -n 1 " + folder.file("r3/postmaster.pid") + ")");
  screen.say("");
}

// Until the time is over, a signal comes, or nobody looks any more.
void watch(const Options& options, const Plan& plan, Load& load, RouterProcess& router, Placement& placement,
           Signals& signals, Screen& screen) {
  Watcher watcher(plan.router.admin_port, plan.placement.admin_port);
  Clock::time_point next_look = Clock::now();
  for (;;) {
    const Clock::time_point now = Clock::now();
    if (options.length && load.time(now) >= *options.length) break;
    load.advance(now);
    // A server that has ended shows in the table: killing one is a good thing to try.
    if (!router.running()) throw Failure("the router ended by itself\n" + router.log());
    if (!placement.placer_running()) throw Failure("the placer ended by itself\n" + placement.placer_log());
    if (now >= next_look) {
      watcher.look(load.time(now));
      screen.show(watcher.state());
      next_look = now + kLookInterval;
    }
    if (screen.lost() || signals.wait_until(now + kStep) == Signals::Wake::Stop) break;
  }
  watcher.look(load.time(Clock::now()));
  load.stop();
  placement.stop();
  screen.finish();
  if (const std::string problem = watcher.problem(); !problem.empty()) throw Failure(problem);
  screen.say("");
  for (const std::string& line : summary_lines(watcher.whole(), load.runs(), load.failed_runs()))
    screen.say(line);
  screen.say("  application: " + placement.visits());
  if (load.failed_runs() > 0) screen.say("  the first that failed:\n" + load.first_failure());
}

void run_in(const Folder& folder, const Options& options, const std::string& programs, Signals& signals,
            Screen& screen) {
  const Clock::time_point begun = Clock::now();
  const auto step = [&](const std::string& text) {
    screen.say(
        fmt::format("[{:4.1f} s] {}", std::chrono::duration<double>(Clock::now() - begun).count(), text));
  };
  const Plan plan = plan_all(options, folder);
  const RouterPlan& users = plan.router;
  ClusterPlan servers{programs,
                      kStandbys,
                      users.server_ports,
                      {users.premium, users.freemium, users.app, users.admin, users.monitor},
                      kDatabase};
  // Before anything else, so that a browser is at hand when the load begins.
  say_dashboards(screen, plan);
  screen.say("           (both answer once it says ready)");
  Cluster cluster(std::move(servers), folder, signals);
  step("making a PostgreSQL primary");
  cluster.start_primary();
  step(fmt::format("copying it to {} streaming standbys", kStandbys));
  cluster.start_standbys();
  cluster.write_userlist(folder.file("userlist.txt"));
  step("starting the router");
  RouterProcess router(plan.router, folder, signals);
  step("starting a sample application on two compute hosts, and the placer");
  Placement placement(plan.placement, folder, signals);
  step("ready");
  say_addresses(screen, plan, folder);
  Load load({programs, users.port, users.database, {users.premium, users.freemium}}, folder);
  placement.let_visitors_in();
  watch(options, plan, load, router, placement, signals, screen);
  router.stop();
  cluster.stop(options.afterwards == Afterwards::Keep ? SIGINT : SIGQUIT);
}

}  // namespace

int run(const Options& options) {
  try {
    give_up_root();
    const std::string programs = postgresql_programs();
    Signals signals;
    Screen screen;
    {
      const Folder folder(options.afterwards);
      run_in(folder, options, programs, signals, screen);
      if (options.afterwards == Afterwards::Keep) screen.say("  kept: " + folder.path().string());
    }
    screen.say(options.afterwards == Afterwards::Keep ? "Everything is stopped."
                                                      : "Everything is stopped and removed.");
    return 0;
  } catch (const Stopped& stopped) {
    std::cerr << "sluice demo: interrupted; everything is stopped and removed\n";
    return 128 + stopped.signal;
  } catch (const Failure& failure) {
    std::cerr << "sluice demo: " << failure.what() << std::endl;
    return 1;
  }
}

}  // namespace sluice::demo
