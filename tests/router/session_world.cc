#include "tests/router/session_world.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "protocol/crypto.h"
#include "protocol/scram_server.h"
#include "router/derive.h"
#include "router/snapshot.h"
#include "telemetry/log_settings.h"

namespace sluice::router::test {
namespace {

using fakes::Address;

const Address kRouter{"10.0.0.100", 6432};
constexpr std::string_view kConfiguration = R"(
primary: {name: p, host: 10.0.0.10}
replicas:
  - {name: a, host: 10.0.0.1}
  - {name: b, host: 10.0.0.2}
  - {name: c, host: 10.0.0.3}
listen_addr: 10.0.0.100
admin_port: 0
auth_file: users
server_user: svc
server_password_file: password
server_tls_sslmode: disable
trust_anywhere: true
policy: least_loaded
hba:
  - {user: trusted, method: trust}
  - {user: passed, method: passthrough}
  - {method: scram-sha-256}
log_level: error
io_engine: epoll
)";

protocol::ScramVerifier verifier(std::string_view password) {
  return protocol::scram_verifier(password, as_bytes("saltsaltsaltsalt"), 2);
}

std::string text_of(const protocol::ScramVerifier& v) {
  return "SCRAM-SHA-256$" + std::to_string(v.iterations) + ":" + protocol::base64_encode(v.salt) + "$" +
         protocol::base64_encode(v.stored_key) + ":" + protocol::base64_encode(v.server_key);
}

}  // namespace

SessionWorld::SessionWorld(std::string_view more_configuration, std::uint64_t seed) : sim_(seed) {
  for (const auto& [name, host] : std::map<std::string, std::string>{
           {"a", "10.0.0.1"}, {"b", "10.0.0.2"}, {"c", "10.0.0.3"}, {"p", "10.0.0.10"}}) {
    auto made = std::make_unique<fakes::ScriptedServer>(sim_.network(), Address{host, 5432});
    made->verifiers = {
        {"alice", verifier("wonderland")}, {"passed", verifier("wonderland")}, {"svc", verifier("sesame")}};
    servers_.emplace(name, std::move(made));
  }
  const auto config = load(more_configuration);
  std::string problem;
  auto materials = load_materials(*config, mock_secret_, problem);
  SLUICE_ASSERT(materials.has_value());
  (void)log::configure(
      log::settings_of(config->options.log_level, config->options.log_format, config->options.log_file));
  admission_ = std::make_unique<Admission>(config::pool_config(*config), admission_limits(config));
  registry_ = std::make_unique<telemetry::Registry>(names_.update(*config, *admission_));
  const SnapshotPtr snapshot =
      make_snapshot(config, *std::move(materials), *admission_, names_, mock_secret_);
  shared_ = std::make_unique<Shared>(*admission_, directory_);
  shared_->server_failed = [this](ServerId server, std::string) {
    failed_.push_back(worker_->snapshot()->server_name(server));
    if (server != kPrimary) admission_->set_up(policy::ReplicaId(server.value()), false);
    shared_->drop_servers(server);
  };
  shared_->workers.push_back(std::make_unique<Worker>(*shared_, 0U, snapshot, registry_->add_thread()));
  worker_ = shared_->workers.front().get();
  for (const std::string name : {"a", "b", "c"})
    admission_->set_up(*admission_->find_replica(name), true);
  if (!worker_->listen(nullptr, nullptr, problem)) {
    ADD_FAILURE() << problem;
    std::abort();
  }
  worker_->begin(nullptr);
  settle();
}

SessionWorld::~SessionWorld() {
  shut_down();
  shared_->pool.drop_all();
  shared_.reset();
}

std::shared_ptr<const config::Config> SessionWorld::load(std::string_view more) {
  folder_.write("users", "\"alice\" \"" + text_of(verifier("wonderland")) + "\"\n");
  folder_.write("password", "sesame\n");
  const auto outcome =
      config::load_text(std::string(kConfiguration) + std::string(more), folder_.path("sluice.yaml"));
  if (outcome.config) return outcome.config;
  for (const config::Problem& problem : outcome.problems)
    ADD_FAILURE() << config::to_string(problem);
  std::abort();
}

fakes::ScriptedClient& SessionWorld::connect() {
  const Address from{"10.0.1.1", static_cast<std::uint16_t>(20'000 + clients_.size())};
  clients_.push_back(std::make_unique<fakes::ScriptedClient>(sim_.network(), from, kRouter));
  return *clients_.back();
}

fakes::ScriptedClient& SessionWorld::client(std::string_view user) {
  fakes::ScriptedClient& made = connect();
  made.start(user);
  return made;
}

fakes::ScriptedClient& SessionWorld::ready_client(std::string_view user) {
  fakes::ScriptedClient& made = client(user);
  EXPECT_TRUE(run_until([&] { return made.ready(); })) << made.types() << " " << made.sqlstate();
  return made;
}

void SessionWorld::end(fakes::ScriptedClient& client) {
  client.terminate();
  settle();
}

std::string SessionWorld::last_server() const {
  for (const DecisionRecord& decision : admission_->decisions())
    if (decision.number == admission_->decisions().size() && decision.replica)
      return worker_->snapshot()->server_name(ServerId(decision.replica->value()));
  return "";
}

double SessionWorld::seconds() const noexcept {
  return std::chrono::duration<double>(sim_.clock().peek() - began_).count();
}

void SessionWorld::expect_nothing_left() {
  EXPECT_EQ(worker_->session_count(), 0U);
  EXPECT_EQ(admission_->session_count(), 0U);
  for (const policy::ReplicaSnapshot& replica : admission_->snapshot().replicas)
    EXPECT_EQ(replica.total_load, 0) << replica.name;
  const std::size_t pooled = worker_->transaction_pools().count();  // each is being read
  EXPECT_EQ(worker_->transaction_pools().idle_count(), pooled);
  EXPECT_EQ(worker_->buffers().lent(), pooled);
  EXPECT_EQ(shared_->unauthenticated.load(), 0U);
  EXPECT_EQ(sim_.kernel().open_sockets(), shared_->pool.size() + pooled);
  const telemetry::Reading now = reading();
  namespace metric = telemetry::metric;
  EXPECT_EQ(now.total(metric::sessions), 0);
  EXPECT_EQ(now.total(metric::client_connections), 0);
  EXPECT_EQ(now.total(metric::unauthenticated_connections), 0);
  EXPECT_EQ(now.total(metric::sessions_opened_total), now.total(metric::sessions_closed_total));
}

void SessionWorld::shut_down() {
  if (std::exchange(ended_, true)) return;
  shared_->shutting_down = true;
  worker_->stop();
  run_until([this] { return worker_->context().stopped(); }, std::chrono::minutes(10));
  EXPECT_TRUE(worker_->context().stopped()) << "the worker does not end";
  EXPECT_EQ(worker_->session_count(), 0U);
}

}  // namespace sluice::router::test
