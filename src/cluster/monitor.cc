#include "cluster/monitor.h"

#include <algorithm>
#include <random>
#include <utility>

#include <asio/experimental/as_tuple.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include "base/assert.h"
#include "base/error.h"
#include "cluster/acceptance.h"
#include "cluster/lag_estimator.h"
#include "cluster/probe.h"
#include "net/task_group.h"
#include "telemetry/log.h"

namespace sluice::cluster {
namespace {

using Clock = std::chrono::steady_clock;
using pgclient::Client;
using pgclient::PgErrc;
using pgclient::PgError;

DownReason reason_of(const PgError& e) {
  if (e.error.code == BaseErrc::Timeout) return DownReason::ProbeTimeout;
  if (e.error.code == PgErrc::LoginFailed) return DownReason::LoginFailed;
  if (e.error.code == PgErrc::QueryFailed || e.error.code == PgErrc::UnexpectedResult)
    return DownReason::ProbeFailed;
  return DownReason::ConnectFailed;
}

// One server under watch. Shared with its coroutine, which ends after `removed`.
struct Watched {
  Watched(const asio::any_io_executor& executor, MonitoredServer s, const HealthSettings& settings)
      : server(std::move(s)), state(server.role, settings, Clock::now()), turn(executor) {
    facts.name = server.name;
    facts.role = server.role;
    (void)state.set_bar(server.bar, Clock::now());
    facts.status = state.status();
    facts.probed = state.unbarred();
  }

  MonitoredServer server;
  HealthState state;
  LagEstimator lag;
  ServerHealth facts;
  std::optional<Client> client;
  asio::steady_timer turn;  // until the next probe
  bool probing = false, again = false, removed = false;
};
using WatchedPtr = std::shared_ptr<Watched>;

}  // namespace

struct HealthMonitor::Impl {
  Impl(asio::any_io_executor ex, OnChange change, OnProbe probed)
      : executor(std::move(ex)),
        on_change(std::move(change)),
        on_probe(std::move(probed)),
        jitter(std::random_device{}()),
        tasks(executor) {}

  asio::awaitable<void> watch(WatchedPtr watched);
  asio::awaitable<pgclient::PgResult<ProbeAnswer>> probe_once(WatchedPtr watched);
  void on_answer(Watched& watched, const ProbeAnswer& answer, TimePoint started);
  void on_failure(Watched& watched, const PgError& error, TimePoint started);
  void publish(Watched& watched, bool changed);
  void hurry(Watched& watched);
  std::chrono::milliseconds pause(const Watched& watched);
  bool is_primary(const Watched& watched) const;
  Watched* find(std::string_view name);

  asio::any_io_executor executor;
  OnChange on_change;
  OnProbe on_probe;
  std::minstd_rand jitter;
  MonitorSettings settings;
  std::vector<WatchedPtr> servers;
  std::optional<std::string> primary;  // "": sought
  net::TaskGroup tasks;
};

Watched* HealthMonitor::Impl::find(std::string_view name) {
  for (const WatchedPtr& watched : servers)
    if (watched->server.name == name) return watched.get();
  return nullptr;
}

std::chrono::milliseconds HealthMonitor::Impl::pause(const Watched& watched) {
  const bool seeking = primary && primary->empty() && watched.server.may_be_primary;
  const auto interval = seeking ? std::min(settings.interval, kSeekInterval) : settings.interval;
  const auto tenth = interval.count() / 10;
  std::uniform_int_distribution<std::chrono::milliseconds::rep> move(-tenth, tenth);
  return interval + std::chrono::milliseconds(move(jitter));
}

bool HealthMonitor::Impl::is_primary(const Watched& watched) const {
  return watched.server.role == ServerRole::Primary || (primary && *primary == watched.server.name);
}

void HealthMonitor::Impl::publish(Watched& watched, bool changed) {
  const HealthStatus probed_before = std::exchange(watched.facts.probed, watched.state.unbarred());
  watched.facts.status = watched.state.status();
  watched.facts.failures_in_row = watched.state.failures_in_row();
  if (!changed && probed_before == watched.facts.probed) return;
  if (!changed) {
    // Of interest to few: it takes no sessions in any case.
  } else if (watched.facts.status.up) {
    log::info("server up", {{"server", watched.server.name}});
  } else {
    log::warning("server down", {{"server", watched.server.name},
                                 {"reason", down_reason_name(watched.facts.status.reason)},
                                 {"error", watched.facts.last_error}});
  }
  // A copy: the callback may reconfigure.
  const ServerHealth facts = watched.facts;
  if (on_change) on_change(facts);
}

void HealthMonitor::Impl::on_answer(Watched& watched, const ProbeAnswer& answer, TimePoint started) {
  const TimePoint now = Clock::now();
  ServerHealth& facts = watched.facts;
  ++facts.probes_ok;
  facts.last_error.clear();
  facts.answered = now;
  facts.in_recovery = answer.in_recovery;
  facts.probe_times.add(answer.round_trip);

  // The primary's position is every replica's head. A replica that has received more (of which the primary
  // did not tell yet, or with no primary configured) sets its own.
  if (is_primary(watched) && answer.written)
    for (const WatchedPtr& other : servers)
      if (other->server.role == ServerRole::Replica) other->lag.on_head(*answer.written, now);
  if (answer.received && *answer.received > watched.lag.head().value_or(0))
    watched.lag.on_head(*answer.received, now);
  facts.lag_bytes.reset();
  facts.lag.reset();
  if (answer.in_recovery == true && answer.replayed) {
    facts.lag_bytes = watched.lag.bytes_behind(*answer.replayed);
    facts.lag = watched.lag.time_behind(*answer.replayed, now, answer.since_last_commit);
  }
  if (!facts.lag_bytes && answer.in_recovery != false) facts.lag_bytes = watched.server.lag_bytes;
  facts.timeline = answer.timeline;
  facts.replayed = answer.in_recovery == true ? answer.replayed : std::nullopt;
  const ProbeOk probe{started, answer.in_recovery, facts.lag_bytes, facts.lag};
  publish(watched, watched.state.on_probe_ok(probe, now));
  if (on_probe) on_probe(watched.facts, true);
}

void HealthMonitor::Impl::on_failure(Watched& watched, const PgError& error, TimePoint started) {
  ++watched.facts.probes_failed;
  watched.facts.last_error = error.message;
  watched.client.reset();
  publish(watched, watched.state.on_probe_failed({started, reason_of(error)}, Clock::now()));
  if (on_probe) on_probe(watched.facts, false);
}

// Over the warm connection; where that turns out lost, over a new one. Without a role to log in as, only
// whether the server accepts connections.
asio::awaitable<pgclient::PgResult<ProbeAnswer>> HealthMonitor::Impl::probe_once(WatchedPtr watched) {
  const auto deadline = Clock::now() + settings.timeout;
  const auto left = [&] {
    return std::max(std::chrono::milliseconds(1),
                    std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()));
  };
  if (watched->server.connect.user.empty())
    co_return co_await probe_acceptance(watched->server.connect, settings.timeout);
  if (watched->client && watched->client->usable()) {
    auto answer = co_await probe(*watched->client, left());
    if (answer || answer.error().error.code != PgErrc::ConnectionLost) co_return answer;
  }
  watched->client.reset();
  auto connected = co_await Client::connect(watched->server.connect, left());
  if (!connected) co_return connected.error();
  watched->client.emplace(std::move(*connected));
  co_return co_await probe(*watched->client, left());
}

asio::awaitable<void> HealthMonitor::Impl::watch(WatchedPtr watched) {
  co_await asio::this_coro::throw_if_cancelled(false);
  while (!watched->removed && !tasks.stopping()) {
    watched->probing = true;
    watched->again = false;
    const TimePoint started = Clock::now();
    auto answer = co_await probe_once(watched);
    watched->probing = false;
    if (watched->removed || tasks.stopping()) break;
    if (answer) {
      on_answer(*watched, *answer, started);
    } else if (answer.error().error.code != BaseErrc::Cancelled) {
      on_failure(*watched, answer.error(), started);
    }
    if (watched->again) continue;
    watched->turn.expires_after(pause(*watched));
    co_await watched->turn.async_wait(asio::experimental::as_tuple(asio::use_awaitable));
  }
  watched->client.reset();
}

void HealthMonitor::Impl::hurry(Watched& watched) {
  if (watched.probing) {
    watched.again = true;
  } else {
    watched.turn.cancel();
  }
}

HealthMonitor::HealthMonitor(asio::any_io_executor executor, OnChange on_change, OnProbe on_probe)
    : impl_(std::make_unique<Impl>(std::move(executor), std::move(on_change), std::move(on_probe))) {}
HealthMonitor::~HealthMonitor() = default;

void HealthMonitor::configure(std::vector<MonitoredServer> servers, MonitorSettings settings) {
  Impl& impl = *impl_;
  impl.settings = settings;
  std::vector<WatchedPtr> before = std::exchange(impl.servers, {});
  std::vector<WatchedPtr> added;
  for (MonitoredServer& server : servers) {
    const auto same = std::find_if(before.begin(), before.end(), [&](const WatchedPtr& w) {
      return w && w->server.name == server.name && w->server.role == server.role &&
             w->server.connect == server.connect;
    });
    if (same != before.end()) {
      (*same)->state.configure(settings.health);
      (*same)->server = std::move(server);
      impl.servers.push_back(std::exchange(*same, nullptr));
    } else {
      added.push_back(std::make_shared<Watched>(impl.executor, std::move(server), settings.health));
      impl.servers.push_back(added.back());
    }
    impl.servers.back()->facts.index = impl.servers.size() - 1;
  }
  for (const WatchedPtr& gone : before) {
    if (!gone) continue;
    gone->removed = true;
    gone->turn.cancel();
  }
  for (const WatchedPtr& watched : added)
    impl.tasks.spawn("health", impl.watch(watched));
  // Last, and over a copy: the callback may come back here.
  const std::vector<WatchedPtr> all = impl.servers;
  for (const WatchedPtr& watched : all)
    if (!watched->removed) impl.publish(*watched, watched->state.set_bar(watched->server.bar, Clock::now()));
}

void HealthMonitor::session_failed(std::string_view server) {
  Watched* const watched = impl_->find(server);
  if (watched == nullptr) return;
  // Before the callback, which may take the server away.
  impl_->hurry(*watched);
  impl_->publish(*watched, watched->state.on_session_failure(Clock::now()));
}

void HealthMonitor::probe_now(std::string_view server) {
  if (Watched* const watched = impl_->find(server)) impl_->hurry(*watched);
}

void HealthMonitor::set_primary(std::string_view server) {
  Impl& impl = *impl_;
  if (impl.primary == server) return;
  impl.primary = server;
  if (!server.empty()) return;
  for (const WatchedPtr& watched : impl.servers)
    if (watched->server.may_be_primary) impl.hurry(*watched);
}

std::vector<ServerHealth> HealthMonitor::servers() const {
  std::vector<ServerHealth> all;
  for (const WatchedPtr& watched : impl_->servers)
    all.push_back(watched->facts);
  return all;
}

asio::awaitable<void> HealthMonitor::stop() {
  co_await impl_->tasks.stop();
}

}  // namespace sluice::cluster
