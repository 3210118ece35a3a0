#include "demo/placement.h"

#include <fstream>

#include <fmt/format.h>

#include "demo/failure.h"
#include "demo/http_get.h"
#include "demo/observation.h"

namespace sluice::demo {
namespace {

using namespace std::chrono_literals;

constexpr auto kPlacementTimeout = 30s;

}  // namespace

std::vector<ComputeHost> compute_hosts() {
  return {{"edge", 0ms, 5ms, 0}, {"core", 12ms, 0ms, 0}};
}

std::string placer_configuration(const PlacementPlan& plan) {
  std::string text = fmt::format(
      "# The configuration of the demo's placer.\n"
      "listen_addr: 127.0.0.1\n"
      "listen_port: {}\n"
      "admin_port: {}\n"
      "threads: 1\n"
      "policy: adaptive\n"
      "exploration: 0.10\n"
      "profile_path: {}\n"
      "path_interval: 200ms\n"
      "health_check_rise: 1\n"
      "drain_timeout: 1s\n\n"
      "routes:\n"
      "  - {{pattern: /item}}\n"
      "  - {{pattern: /feed}}\n"
      "compute_hosts:\n",
      plan.port, plan.admin_port, plan.profile_path);
  for (const ComputeHost& host : plan.hosts)
    text += fmt::format("  - {{name: {}, address: 127.0.0.1, port: {}}}\n", host.name, host.port);
  return text;
}

Placement::Placement(const PlacementPlan& plan, const Folder& folder, Signals& signals)
    : plan_(plan),
      folder_(folder),
      placer_log_(folder.file("placer.log")),
      visitors_log_(folder.file("visitors.log")) {
  start_hosts();
  folder_.write("placer.yaml", placer_configuration(plan_));
  Command command;
  command.argv = {plan_.program, "placer", "-c", folder_.file("placer.yaml")};
  command.directory = folder_.path();
  command.log = placer_log_;
  placer_.emplace(command);
  wait_until_ready(signals);
}

void Placement::start_hosts() {
  for (const ComputeHost& host : plan_.hosts) {
    Command command;
    command.argv = {plan_.program,    "demo-app",
                    "--host",         host.name,
                    "--port",         std::to_string(host.port),
                    "--router-port",  std::to_string(plan_.router_port),
                    "--user",         plan_.app.name,
                    "--database",     plan_.database,
                    "--way",          std::to_string(host.way.count()),
                    "--database-way", std::to_string(host.database_way.count())};
    command.directory = folder_.path();
    command.log = folder_.file("app-" + host.name + ".log");
    command.environment = {{"PGPASSWORD", plan_.app.password}};
    hosts_.emplace_back(command);
  }
}

// Until every host has been seen to be up: then the first request is placed by what is known of both.
void Placement::wait_until_ready(Signals& signals) {
  const Clock::time_point deadline = Clock::now() + kPlacementTimeout;
  const auto all_up = [&] {
    const auto answer = http_get(plan_.admin_port, "/v1/hosts", 500ms);
    return answer && answer->status == 200 && count_hosts_up(answer->body) == plan_.hosts.size();
  };
  while (!all_up()) {
    for (std::size_t i = 0; i < hosts_.size(); ++i)
      if (!hosts_[i].running())
        throw Failure("the sample application ended at its start\n" +
                      end_of_log(folder_.file("app-" + plan_.hosts[i].name + ".log")));
    if (!placer_->running()) throw Failure("the placer ended at its start\n" + placer_log());
    if (Clock::now() > deadline) throw Failure("the placer does not find its hosts\n" + placer_log());
    signals.wait_or_throw(Clock::now() + 50ms);
  }
}

void Placement::let_visitors_in() {
  Command command;
  command.argv = {plan_.program, "demo-visitors", "--port", std::to_string(plan_.port)};
  command.directory = folder_.path();
  command.log = visitors_log_;
  visitors_.emplace(command);
}

void Placement::stop() {
  if (visitors_) visitors_->stop(SIGTERM, 3s);
  placer_->stop(SIGTERM, 3s);
  for (Child& host : hosts_)
    host.signal(SIGTERM);
  for (Child& host : hosts_)
    host.stop(SIGTERM, 1s);
}

std::string Placement::visits() const {
  std::ifstream log(visitors_log_);
  std::string line, last;
  while (std::getline(log, line))
    if (line.find(" visits, ") != std::string::npos) last = line;
  return last;
}

}  // namespace sluice::demo
