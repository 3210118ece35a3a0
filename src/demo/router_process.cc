#include "demo/router_process.h"

#include <algorithm>

#include <fmt/format.h>

#include "demo/failure.h"
#include "demo/http_get.h"
#include "demo/observation.h"
#include "demo/wave_plan.h"

namespace sluice::demo {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds kReadyTimeout{30};

bool all_servers_up(std::uint16_t admin_port, std::size_t servers) {
  const auto answer = http_get(admin_port, "/v1/replicas", milliseconds(500));
  if (!answer || answer->status != 200) return false;
  const auto replicas = read_replicas(answer->body, {});
  return replicas.size() == servers && std::all_of(replicas.begin(), replicas.end(),
                                                   [](const ObservedReplica& replica) { return replica.up; });
}

}  // namespace

std::string router_configuration(const RouterPlan& plan) {
  std::string text = fmt::format(
      "# The configuration of the demo's router.\n"
      "listen_addr: 127.0.0.1\n"
      "listen_port: {}\n"
      "admin_port: {}\n"
      "auth_file: userlist.txt\n"
      "admin_users: [{}]\n"
      "health_check_user: {}\n"
      "health_check_password_file: monitor.password\n"
      "health_check_interval: 500ms\n"
      "health_check_timeout: 500ms\n"
      "health_check_rise: 1\n"
      "drain_timeout: 1s\n"
      "policy: plb\n"
      "profile_path: {}\n"
      "trace_idle_timeout: 500ms\n"
      "trust_host_option_users: [{}]\n\n",
      plan.port, plan.admin_port, plan.admin.name, plan.monitor.name, plan.profile_path, plan.app.name);
  text += fmt::format("primary: {{name: primary, host: 127.0.0.1, port: {}}}\nreplicas:\n",
                      plan.server_ports.at(0));
  for (std::size_t i = 1; i < plan.server_ports.size(); ++i)
    text += fmt::format("  - {{name: r{}, host: 127.0.0.1, port: {}}}\n", i, plan.server_ports[i]);
  text += fmt::format(
      "\nclasses:\n"
      "  - {{name: premium, saturation: {0}, return_ratio: 0.60, floor: 0, target: 2}}\n"
      "  - {{name: freemium, saturation: {0}, return_ratio: 0.80, floor: 1, target: 2}}\n"
      "rules:\n"
      "  - {{user: {1}, class: premium}}\n"
      "default_class: freemium\n\n"
      "users:\n"
      "  - {{name: {3}, pool_mode: transaction}}\n\n"
      "databases:\n"
      "  - {{name: {2}}}\n"
      "  - {{name: {2}_rw, target: primary, server_database: {2}}}\n",
      kSaturation, plan.premium.name, plan.database, plan.app.name);
  text += "\nhosts:\n";
  for (const std::string& host : plan.hosts)
    text += fmt::format("  - {{name: {}}}\n", host);
  return text;
}

RouterProcess::RouterProcess(const RouterPlan& plan, const Folder& folder, Signals& signals)
    : log_(folder.file("router.log")) {
  folder.write("sluice.yaml", router_configuration(plan));
  folder.write("monitor.password", plan.monitor.password + "\n");
  Command command;
  command.argv = {plan.program, "router", "-c", folder.file("sluice.yaml")};
  command.directory = folder.path();
  command.log = log_;
  child_.emplace(command);
  wait_until_ready(plan, signals);
}

void RouterProcess::wait_until_ready(const RouterPlan& plan, Signals& signals) {
  const Clock::time_point deadline = Clock::now() + kReadyTimeout;
  while (!all_servers_up(plan.admin_port, plan.server_ports.size())) {
    if (!child_->running()) throw Failure("the router ended at its start\n" + log());
    if (Clock::now() > deadline) throw Failure("the router does not find its servers\n" + log());
    signals.wait_or_throw(Clock::now() + milliseconds(50));
  }
}

void RouterProcess::stop() {
  child_->stop(SIGTERM, seconds(4));
}

}  // namespace sluice::demo
