#include "router/transaction_pools.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <asio/post.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include "base/assert.h"
#include "router/cancel.h"
#include "router/server_request.h"
#include "router/worker.h"
#include "telemetry/log.h"

namespace sluice::router {
namespace {

namespace metric = telemetry::metric;

// Of statements that neither a client nor a server has any more.
constexpr std::size_t kUnusedStatementBytesMax = std::size_t{4} << 20;

// A newcomer relies on no opening that has taken this long, and twice as long as the last one.
constexpr std::chrono::nanoseconds kOpeningDoubted = std::chrono::seconds(1);

telemetry::ServerLabel label_of(ServerId server) {
  return server == kPrimary ? telemetry::ServerLabel::primary()
                            : telemetry::ServerLabel(policy::ReplicaId(server.value()));
}

Servers servers_of(ServerId server) {
  return server == kPrimary ? Servers::Primary : Servers::Replicas;
}

// Where both know the server.
bool at_same_place(const Snapshot& then, const Snapshot& now, ServerId server) {
  const auto before = then.servers.find(server);
  const auto after = now.servers.find(server);
  return after != now.servers.end() && before != then.servers.end() &&
         before->second.target == after->second.target;
}

// The second has it elsewhere.
bool has_moved(const Snapshot& then, const Snapshot& now, ServerId server) {
  return now.servers.contains(server) && !at_same_place(then, now, server);
}

std::string key_of(const std::vector<ServerRequest>& ways) {
  std::string key;
  for (const ServerRequest& way : ways) {
    for (const auto& [name, value] : way.parameters) {
      key += name;
      key += '\0';
      key += value;
      key += '\0';
    }
    if (way.place) key += way.place->key();
    key += '\0';
  }
  return key;
}

}  // namespace

bool ServerGroup::has_spare_opening(TimePoint now) const {
  if (openings.size() <= waiters.size()) return false;
  const auto newest = std::prev(openings.end(), static_cast<std::ptrdiff_t>(waiters.size()) + 1);
  return now - *newest < std::max(kOpeningDoubted, 2 * takes);
}

bool ServerGroup::counted_on(std::list<TimePoint>::const_iterator opening) const {
  return static_cast<std::size_t>(std::distance(std::next(opening), openings.end())) < waiters.size();
}

ServerWaiter& ServerGroup::take_waiter() {
  ServerWaiter* const waiter = waiters.front();
  waiters.pop_front();
  return *waiter;
}

ServerGroup& TransactionPool::group(ServerId server) {
  const auto found = groups_.find(server);
  return found != groups_.end() ? found->second
                                : groups_.emplace(server, ServerGroup{*this, server}).first->second;
}

std::size_t TransactionPool::open_count(Servers servers) const noexcept {
  std::size_t count = 0;
  for (const auto& [server, group] : groups_)
    if (servers_of(server) == servers) count += group.count;
  return count;
}

PoolingRules::PoolingRules(const config::Options& options)
    : tracked(options.track_extra_parameters), strict(options.isolation == config::Isolation::Strict) {
  translator.on_pin = options.on_pin == config::OnPin::Pin ? pooling::TranslatorOptions::OnPin::Pin
                                                           : pooling::TranslatorOptions::OnPin::Refuse;
  on_replicas = translator;
  on_replicas.own_listener = false;
}

TransactionPools::TransactionPools(Worker& worker)
    : worker_(worker),
      rules_(std::make_shared<const PoolingRules>(worker.snapshot()->options())),
      statement_store_(worker.index(), kUnusedStatementBytesMax) {}

TransactionPools::~TransactionPools() = default;

TransactionPool& TransactionPools::join(std::vector<ServerRequest> ways) {
  std::string key = key_of(ways);
  auto found = pools_.find(key);
  if (found == pools_.end()) {
    auto made = std::make_unique<TransactionPool>(key, std::move(ways));
    found = pools_.emplace(std::move(key), std::move(made)).first;
  } else {
    found->second->ways_ = std::move(ways);  // the newest proof of who the user is
  }
  ++found->second->users_;
  return *found->second;
}

void TransactionPools::leave(TransactionPool& pool) {
  --pool.users_;
  remove_if_unused(pool);
}

void TransactionPools::remove_if_unused(TransactionPool& pool) {
  if (pool.users_ > 0) return;
  for (const auto& [server, group] : pool.groups_)
    if (group.count > 0) return;
  pools_.erase(pools_.find(pool.key_));
}

PooledServer& TransactionPools::add(ServerGroup& group, ServerConnection connection) {
  group.pool.report(servers_of(group.server)).learn(connection.parameters);
  connection.notices = {};
  PooledServer::Owner& owner = *this;
  const PooledServer::Parts parts{worker_.buffers(), worker_.ring(), settings_store_};
  auto made = std::make_unique<PooledServer>(owner, group, std::move(connection), parts,
                                             worker_.snapshot()->options().max_prepared_statements);
  PooledServer& server = *made;
  servers_.emplace(&server, std::move(made));
  ++group.count;
  server.start();
  return server;
}

void TransactionPools::adopt(TransactionPool& pool, ServerConnection connection) {
  ServerGroup& group = pool.group(connection.server);
  give_back(add(group, std::move(connection)), Clock::now());
}

PooledServer* TransactionPools::take(TransactionPool& pool, ServerId server, Clock::time_point now) {
  ServerGroup& group = pool.group(server);
  for (std::size_t i = group.idle.size(); i-- > 0;) {
    PooledServer* const candidate = group.idle[i];
    // One that has something to say is left for the event loop to hear.
    if (!candidate->fit_for_use(now)) continue;
    group.idle.erase(group.idle.begin() + static_cast<std::ptrdiff_t>(i));
    return candidate;
  }
  return nullptr;
}

void TransactionPools::open(TransactionPool& pool, ServerId server, ServerWaiter& waiter,
                            Clock::time_point now) {
  ServerGroup& group = pool.group(server);
  const bool spare = group.has_spare_opening(now);
  group.waiters.push_back(&waiter);
  if (spare) return;
  group.openings.push_back(now);
  ++pool.users_;
  const auto opening = std::prev(group.openings.end());
  if (worker_.spawn("server", open_one(group, opening))) return;
  group.openings.erase(opening);
  leave(pool);
}

void TransactionPools::forget(TransactionPool& pool, ServerId server, ServerWaiter& waiter) {
  std::erase(pool.group(server).waiters, &waiter);
}

// On behalf of nobody in particular: whoever waits first gets it, or hears that it failed.
asio::awaitable<void> TransactionPools::open_one(ServerGroup& group, Opening opening) {
  co_await asio::this_coro::throw_if_cancelled(false);
  co_await asio::post(asio::use_awaitable);
  auto opened = co_await try_ways(group);
  const ServerFailure* const failure = std::get_if<ServerFailure>(&opened);
  const bool counted_on = failure != nullptr && group.counted_on(opening);
  group.openings.erase(opening);
  if (counted_on) group.take_waiter().server_failed(*failure);
  if (failure == nullptr && !closing_)
    give_back(add(group, std::get<ServerConnection>(std::move(opened))), Clock::now());
  leave(group.pool);
}

asio::awaitable<std::variant<ServerConnection, ServerFailure>> TransactionPools::try_ways(
    ServerGroup& group) {
  const ServerId server = group.server;
  const std::vector<ServerRequest> ways = group.pool.ways_;
  std::size_t way = 0;
  for (;;) {
    const SnapshotPtr snapshot = worker_.snapshot();
    ServerRequest request = ways[way];
    request.server = server;
    const std::string user = request.parameters[0].second;
    const Clock::time_point began = Clock::now();
    RefusedLogins& refused = worker_.shared().refused_logins;
    auto opened = co_await log_in(refused, snapshot, std::move(request), Clock::time_point::max());
    if (std::holds_alternative<ServerConnection>(opened)) {
      if (!at_same_place(*snapshot, *worker_.snapshot(), server)) continue;  // it has moved: once more
      telemetry::ThreadMetrics& metrics = worker_.metrics();
      metrics.count(metric::server_connections_opened_total, label_of(server));
      group.takes = Clock::now() - began;
      metrics.record(metric::server_connect_seconds, group.takes, label_of(server));
      co_return opened;
    }
    if (has_moved(*snapshot, *worker_.snapshot(), server)) continue;
    const ServerFailure& failure = std::get<ServerFailure>(opened);
    note_failure(failure, server, user);
    if (failure.kind != ServerFailure::Kind::Unanswerable || ++way == ways.size()) co_return opened;
  }
}

void TransactionPools::note_failure(const ServerFailure& failure, ServerId server, const std::string& user) {
  const telemetry::ConnectFailure what = failure.kind == ServerFailure::Kind::Unreachable
                                             ? telemetry::ConnectFailure::Refused
                                             : telemetry::ConnectFailure::Login;
  worker_.metrics().count(metric::server_connection_failures_total, label_of(server), what);
  log::warning(
      "server connection failed",
      {{"server", worker_.snapshot()->server_name(server)}, {"user", user}, {"reason", failure.reason}});
  if (failure.kind == ServerFailure::Kind::Unreachable)
    worker_.shared().server_failed(server, failure.reason);
  if (failure.kind == ServerFailure::Kind::Refused && failure.error.sqlstate == "28P01")
    worker_.shared().directory.forget(user);
}

void TransactionPools::give_back(PooledServer& server, Clock::time_point now) {
  server.set_user(nullptr);
  server.idle_since = now;
  if (server.retired() || closing_) return discard(server);
  server.read_on();  // its user may have stopped it
  ServerGroup& group = server.group();
  if (!group.waiters.empty() && !server.being_cancelled()) return group.take_waiter().server_ready(server);
  group.idle.push_back(&server);
}

void TransactionPools::keep_slot(PooledServer& server, Granted slot) {
  SLUICE_ASSERT(!server.slot);
  if (!slot.limited) return worker_.shared().admission.close(slot);  // nobody waits for it
  server.slot = std::move(slot);
}

void TransactionPools::free_slot(std::optional<Granted> slot) {
  if (slot) worker_.shared().admission.close(*slot);
}

void TransactionPools::give_back_open(PooledServer& server, char status, std::uint32_t doubtful_syncs,
                                      Granted slot) {
  server.set_user(nullptr);
  keep_slot(server, std::move(slot));
  if (server.retired() || closing_) return discard(server);
  const Clock::time_point give_up_at = Clock::now() + worker_.snapshot()->options().server_reset_timeout;
  server.clean(status, doubtful_syncs, "DISCARD ALL", give_up_at);
}

void TransactionPools::abandon(PooledServer& server, bool running, Granted slot) {
  server.set_user(nullptr);
  keep_slot(server, std::move(slot));
  server.retire();
  if (!running || server.connection().secret.empty() || closing_) return discard(server);
  server.cancel_begins();
  if (worker_.spawn("cancel", cancel_and_discard(server))) return;
  server.cancel_ends();
  discard(server);
}

asio::awaitable<void> TransactionPools::cancel_and_discard(PooledServer& server) {
  co_await asio::this_coro::throw_if_cancelled(false);
  const SnapshotPtr snapshot = worker_.snapshot();
  const ServerConnection& c = server.connection();
  CancelTarget target{c.server, c.process_id, c.secret};
  (void)co_await send_cancel(snapshot, std::move(target), snapshot->options().cancel_wait_timeout);
  discard(server);
  server.cancel_ends();
}

void TransactionPools::on_cleaned(PooledServer& server, bool clean) {
  worker_.metrics().count(metric::server_resets_total, label_of(server.group().server),
                          clean ? telemetry::ResetResult::Clean : telemetry::ResetResult::Failed);
  if (clean) {
    // The connection first: the next one to have the slot finds it, and may come to leave it likewise.
    std::optional<Granted> slot = std::exchange(server.slot, std::nullopt);
    give_back(server, Clock::now());
    return free_slot(std::move(slot));
  }
  log::info("server connection closed", {{"server", worker_.snapshot()->server_name(server.group().server)},
                                         {"reason", "what a client left behind could not be discarded"}});
  discard(server);
}

// It may have become idle while somebody waited for one like it.
void TransactionPools::on_cancelled(PooledServer& server) {
  ServerGroup& group = server.group();
  if (!group.waiters.empty() && std::erase(group.idle, &server) > 0) give_back(server, Clock::now());
}

void TransactionPools::discard(PooledServer& server) {
  std::erase(server.group().idle, &server);
  std::optional<Granted> slot = std::exchange(server.slot, std::nullopt);
  server.close();
  free_slot(std::move(slot));
}

void TransactionPools::on_idle_end(PooledServer& server) {
  discard(server);
}

void TransactionPools::on_let_go(PooledServer& server) {
  TransactionPool& pool = server.group().pool;
  const Servers servers = servers_of(server.group().server);
  --server.group().count;
  // Nobody hears any more what is changed there, as by a restart.
  if (pool.open_count(servers) == 0) pool.report(servers).forget();
  servers_.erase(&server);
  remove_if_unused(pool);
}

template <class Condition>
void TransactionPools::drop_if(const Condition& condition) {
  std::vector<PooledServer*> doomed;
  for (const auto& [address, server] : servers_)
    if (!server->closed() && condition(*server)) doomed.push_back(address);
  for (PooledServer* const server : doomed)
    retire(*server);
}

void TransactionPools::retire(PooledServer& server) {
  server.retire();
  if (!server.in_use() && !server.cleaning_until()) discard(server);
}

void TransactionPools::drop(ServerId server) {
  drop_if([server](const PooledServer& s) { return s.connection().server == server; });
}

void TransactionPools::drop_idle(const std::optional<std::string>& server_database) {
  for (const auto& [key, pool] : pools_) {
    if (server_database && pool->ways_.front().parameters[1].second != *server_database) continue;
    for (const Servers servers : {Servers::Primary, Servers::Replicas})
      pool->report(servers).forget();
  }
  drop_if([&](const PooledServer& s) {
    return !s.in_use() && (!server_database || s.connection().database == *server_database);
  });
}

void TransactionPools::replace_snapshot(const Snapshot& from, const Snapshot& to) {
  rules_ = std::make_shared<const PoolingRules>(to.options());
  drop_if([&](const PooledServer& s) {
    const auto before = from.servers.find(s.connection().server);
    const auto now = to.servers.find(s.connection().server);
    if (now == to.servers.end() || from.server_sslmode != to.server_sslmode) return true;
    return before != from.servers.end() && !before->second.same_connections(now->second);
  });
}

void TransactionPools::tick(Clock::time_point now) {
  const ServerPool::Limits& limits = worker_.snapshot()->pool_limits;
  const auto over = [now](Clock::time_point since, std::chrono::seconds limit) {
    return limit.count() > 0 && now - since >= limit;
  };
  drop_if([&](const PooledServer& s) {
    if (over(s.connection().opened_at, limits.lifetime)) return true;
    return !s.in_use() && !s.cleaning_until() && over(s.idle_since, limits.idle_timeout);
  });
  std::vector<PooledServer*> late;
  for (const auto& [address, server] : servers_)
    if (const auto until = server->cleaning_until(); until && now >= *until) late.push_back(address);
  for (PooledServer* const server : late)
    discard(*server);
}

void TransactionPools::close_all() {
  closing_ = true;
  std::vector<PooledServer*> doomed;  // those being cleaned too: nobody is to have them
  for (const auto& [address, server] : servers_)
    if (!server->closed() && !server->in_use()) doomed.push_back(address);
  for (PooledServer* const server : doomed)
    discard(*server);
}

std::size_t TransactionPools::idle_count() const noexcept {
  std::size_t count = 0;
  for (const auto& [key, pool] : pools_)
    for (const auto& [server, group] : pool->groups_)
      count += group.idle.size();
  return count;
}

std::vector<ServerPool::IdleInfo> TransactionPools::idle() const {
  std::vector<ServerPool::IdleInfo> all;
  for (const auto& [key, pool] : pools_)
    for (const auto& [server, group] : pool->groups_)
      for (const PooledServer* const each : group.idle) {
        const ServerConnection& c = each->connection();
        all.push_back({c.user, c.database, c.server, c.process_id, c.opened_at, each->idle_since,
                       c.stream.native_handle()});
      }
  return all;
}

}  // namespace sluice::router
