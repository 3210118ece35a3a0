#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "router/admission.h"
#include "router/directory.h"
#include "router/shared.h"
#include "router/telemetry_names.h"
#include "router/worker.h"
#include "telemetry/registry.h"
#include "tests/config/temporary_folder.h"
#include "tests/fakes/scripted_client.h"
#include "tests/fakes/scripted_server.h"
#include "tests/fakes/simulation.h"

namespace sluice::router::test {

// Knows nobody: every user is in auth_file.
class NoDirectory final : public Directory {
 public:
  asio::awaitable<Result<protocol::Secret>> secret_of(std::string) override {
    co_return protocol::Secret(protocol::UnknownUser{});
  }
  asio::awaitable<Result<std::vector<std::string>>> roles_of(std::string) override {
    co_return std::vector<std::string>{};
  }
  void forget(std::string) override {}
};

// One router thread with its sessions, in a simulated world with the servers a, b, c (replicas) and p (the
// primary) and as many clients as a test wants. Users: alice, with a SCRAM verifier that the servers have
// too; trusted, who is let in and logs in to servers as svc; passed, whom a server judges. Sessions go to the
// replica that has the fewest, the earliest of equals.
class SessionWorld {
 public:
  explicit SessionWorld(std::string_view more_configuration = "", std::uint64_t seed = 1);
  SessionWorld(const SessionWorld&) = delete;
  SessionWorld& operator=(const SessionWorld&) = delete;
  ~SessionWorld();

  fakes::Simulation& sim() noexcept { return sim_; }
  fakes::ScriptedServer& server(const std::string& name) { return *servers_.at(name); }
  // A new client, connecting from an address of its own.
  fakes::ScriptedClient& connect();
  // The same, with a StartupMessage for that user.
  fakes::ScriptedClient& client(std::string_view user = "trusted");
  // The same, once it is ready.
  fakes::ScriptedClient& ready_client(std::string_view user = "trusted");
  // Terminate, and all that follows from it.
  void end(fakes::ScriptedClient& client);
  // The server, by name, that has been given the most recent session, "" for none; and its newest connection
  // that has logged in.
  std::string last_server() const;
  fakes::Backend& last_backend() { return server(last_server()).last(); }

  void settle() { sim_.settle(worker_->context()); }
  void run_for(fakes::SimClock::Duration duration) { sim_.run_for(worker_->context(), duration); }
  bool run_until(const std::function<bool()>& done,
                 fakes::SimClock::Duration at_most = std::chrono::hours(1)) {
    return sim_.run_until(worker_->context(), done, at_most);
  }
  // Seconds of virtual time since the world began.
  double seconds() const noexcept;

  Worker& worker() noexcept { return *worker_; }
  Shared& shared() noexcept { return *shared_; }
  Admission& admission() noexcept { return *admission_; }
  telemetry::Reading reading() const { return registry_->read(); }
  // Replicas that sessions could not reach: marked down, as the health checks would, and never up again.
  const std::vector<std::string>& failed() const noexcept { return failed_; }

  // Once all clients are gone: no session, no load, no buffer, no unauthenticated connection is left, and no
  // socket but those that the pools keep.
  void expect_nothing_left();
  // Ends the worker as the router does, and expects the same without a pool.
  void shut_down();

 private:
  std::shared_ptr<const config::Config> load(std::string_view more);

  fakes::Simulation sim_;
  const fakes::SimClock::TimePoint began_ = sim_.clock().peek();
  config::TemporaryFolder folder_;
  std::array<std::byte, 32> mock_secret_{};
  std::map<std::string, std::unique_ptr<fakes::ScriptedServer>> servers_;
  std::vector<std::unique_ptr<fakes::ScriptedClient>> clients_;
  std::unique_ptr<Admission> admission_;
  TelemetryNames names_;
  std::unique_ptr<telemetry::Registry> registry_;
  NoDirectory directory_;
  std::unique_ptr<Shared> shared_;
  Worker* worker_ = nullptr;  // the only one of shared_
  std::vector<std::string> failed_;
  bool ended_ = false;
};

}  // namespace sluice::router::test
