#include "demo/demo.h"

#include <iostream>

#include <fmt/format.h>

#include "demo/cluster.h"
#include "demo/environment.h"
#include "demo/failure.h"
#include "demo/http_get.h"
#include "demo/load.h"
#include "demo/observation.h"
#include "demo/response_times.h"
#include "demo/router_process.h"
#include "demo/screen.h"
#include "demo/signals.h"
#include "demo/table.h"
#include "demo/wave_plan.h"

namespace sluice::demo {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::size_t kStandbys = 5;
constexpr std::uint16_t kPort = 6432, kAdminPort = 9632;  // the router's defaults, if they are free
constexpr milliseconds kStep{100};                        // how often the load is advanced
constexpr milliseconds kLookInterval{500};                // how often the router is asked
constexpr milliseconds kWindow{5000};                     // of the live response times
constexpr milliseconds kHttpTimeout{2000};
constexpr std::size_t kChangesKept = 100;
constexpr const char* kDatabase = "shop";

std::uint16_t router_port(const Options& options) {
  if (!options.port) return is_port_free(kPort) ? kPort : free_ports(1)[0];
  if (*options.port == 0) return free_ports(1)[0];
  if (!is_port_free(*options.port))
    throw Failure(fmt::format("port {} of 127.0.0.1 is taken; choose another with --port, or 0 for any",
                              *options.port));
  return *options.port;
}

RouterPlan plan_router(const Options& options) {
  RouterPlan plan;
  plan.program = own_program();
  plan.port = router_port(options);
  plan.server_ports = free_ports(kStandbys + 2);
  plan.admin_port = plan.server_ports.back();
  plan.server_ports.pop_back();
  // The usual port, unless any will do: then another demo may be starting beside this one.
  const bool any_port = options.port && *options.port == 0;
  if (!any_port && plan.port != kAdminPort && is_port_free(kAdminPort)) plan.admin_port = kAdminPort;
  plan.database = kDatabase;
  plan.premium = {"premium", random_password()};
  plan.freemium = {"freemium", random_password()};
  plan.admin = {"sluice_admin", random_password()};
  plan.monitor = {"sluice_monitor", random_password()};
  return plan;
}

void say_addresses(Screen& screen, const RouterPlan& plan, const Folder& folder) {
  const auto url = [&](const User& user, const std::string& database) {
    return fmt::format("postgresql://{}:{}@127.0.0.1:{}/{}", user.name, user.password, plan.port, database);
  };
  screen.say("");
  screen.say(
      fmt::format("Dashboard: http://127.0.0.1:{}/   (pools, classes, response times, decisions, live)",
                  plan.admin_port));
  screen.say("");
  screen.say("Try it (passwords are thrown away at the end):");
  screen.say("  premium    DATABASE_URL=" + url(plan.premium, plan.database));
  screen.say("  freemium   DATABASE_URL=" + url(plan.freemium, plan.database));
  screen.say("  writing    DATABASE_URL=" + url(plan.premium, plan.database + "_rw") +
             "   (target: primary)");
  screen.say("  console    psql " + url(plan.admin, "sluice") + " -c 'SHOW REPLICAS'");
  screen.say(fmt::format("  admin      http://127.0.0.1:{}/v1/overview   /metrics /readyz /v1/decisions",
                         plan.admin_port));
  screen.say("  logs       " + folder.path().string());
  screen.say("  a failure  kill -9 $(head -n 1 " + folder.file("r3/postmaster.pid") + ")");
  screen.say("");
}

// Looks at the router through its HTTP admin.
class Watcher {
 public:
  explicit Watcher(std::uint16_t port) : port_(port), window_(kWindow) {
    for (const char* name : {"premium", "freemium"}) {
      names_.emplace_back(name);
      state_.classes.push_back({name, {}, 0, 0});
    }
  }

  // A page that does not come, or comes broken, leaves the last one in place.
  void look(Millis time) {
    state_.elapsed = std::chrono::duration_cast<seconds>(time);
    state_.phase = phase_at(time);
    try {
      if (const auto page = get("/v1/replicas")) state_.replicas = read_replicas(*page, names_);
      if (const auto page = get("/v1/decisions")) add_changes(read_changes(*page, last_decision_));
      if (const auto page = get("/metrics")) window_.add(time, read_response_histograms(*page));
      ++looks_;
    } catch (const std::exception& e) {
      problem_ = e.what();
    }
    for (ClassState& row : state_.classes)
      row.response = window_.of(row.name);
  }

  const TableState& state() const noexcept { return state_; }
  TableState whole() const {
    TableState result = state_;
    for (ClassState& row : result.classes)
      row.response = window_.since_start(row.name);
    return result;
  }
  // Why there is nothing to see; empty when there is.
  std::string problem() const {
    return looks_ == 0 ? "the router's HTTP admin gives no usable answer: " + problem_ : "";
  }

 private:
  std::optional<std::string> get(const std::string& path) {
    auto answer = http_get(port_, path, kHttpTimeout);
    if (answer && answer->status == 200) return std::move(answer->body);
    problem_ = path + (answer ? fmt::format(" answers {}", answer->status) : " does not answer");
    return std::nullopt;
  }

  void add_changes(std::vector<RoleChange> changes) {
    for (RoleChange& change : changes) {
      for (ClassState& row : state_.classes)
        if (row.name == change.priority_class) ++(change.borrow ? row.borrowings : row.returns);
      state_.changes.push_back(std::move(change));
    }
    if (state_.changes.size() > kChangesKept)
      state_.changes.erase(state_.changes.begin(),
                           state_.changes.end() - static_cast<std::ptrdiff_t>(kChangesKept));
  }

  std::uint16_t port_;
  std::vector<std::string> names_;
  TableState state_;
  ResponseWindow window_;
  std::int64_t last_decision_ = 0;
  int looks_ = 0;
  std::string problem_;
};

// Until the time is over, a signal comes, or nobody looks any more.
void watch(const Options& options, const RouterPlan& plan, Load& load, RouterProcess& router,
           Signals& signals, Screen& screen) {
  Watcher watcher(plan.admin_port);
  Clock::time_point next_look = Clock::now();
  for (;;) {
    const Clock::time_point now = Clock::now();
    if (options.length && load.time(now) >= *options.length) break;
    load.advance(now);
    // A server that has ended shows in the table: killing one is a good thing to try.
    if (!router.running()) throw Failure("the router ended by itself\n" + router.log());
    if (now >= next_look) {
      watcher.look(load.time(now));
      screen.show(watcher.state());
      next_look = now + kLookInterval;
    }
    if (screen.lost() || signals.wait_until(now + kStep) == Signals::Wake::Stop) break;
  }
  watcher.look(load.time(Clock::now()));
  load.stop();
  screen.finish();
  if (const std::string problem = watcher.problem(); !problem.empty()) throw Failure(problem);
  screen.say("");
  for (const std::string& line : summary_lines(watcher.whole(), load.runs(), load.failed_runs()))
    screen.say(line);
  if (load.failed_runs() > 0) screen.say("  the first that failed:\n" + load.first_failure());
}

void run_in(const Folder& folder, const Options& options, const std::string& programs, Signals& signals,
            Screen& screen) {
  const Clock::time_point begun = Clock::now();
  const auto step = [&](const std::string& text) {
    screen.say(
        fmt::format("[{:4.1f} s] {}", std::chrono::duration<double>(Clock::now() - begun).count(), text));
  };
  const RouterPlan plan = plan_router(options);
  ClusterPlan servers{programs,
                      kStandbys,
                      plan.server_ports,
                      {plan.premium, plan.freemium, plan.admin, plan.monitor},
                      kDatabase};
  Cluster cluster(std::move(servers), folder, signals);
  step("making a PostgreSQL primary");
  cluster.start_primary();
  step(fmt::format("copying it to {} streaming standbys", kStandbys));
  cluster.start_standbys();
  cluster.write_userlist(folder.file("userlist.txt"));
  step("starting the router");
  RouterProcess router(plan, folder, signals);
  step("ready");
  say_addresses(screen, plan, folder);
  Load load({programs, plan.port, plan.database, {plan.premium, plan.freemium}}, folder);
  watch(options, plan, load, router, signals, screen);
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
