#include "pgclient/auth_query.h"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <variant>

#include <asio/experimental/as_tuple.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include "base/error.h"
#include "pgclient/query_pool.h"
#include "pgclient/ttl_cache.h"
#include "telemetry/log.h"

namespace sluice::pgclient {
namespace {

using Clock = std::chrono::steady_clock;
using Roles = std::vector<std::string>;
using protocol::Secret;

QueryPool::Settings pool_settings(const AuthQuery::Settings& s) {
  return {s.servers, s.connections_max, s.waiting_max, s.connect_timeout, s.query_timeout};
}

Result<Secret> secret_of(const Rows& rows) {
  if (rows.rows.empty()) return Secret(protocol::UnknownUser{});
  if (rows.columns.size() < 2) return Error(PgErrc::UnexpectedResult, Side::Server);
  const auto& text = rows.rows.front()[1];
  if (!text) return Secret(protocol::UnknownUser{});
  return protocol::parse_secret(*text);
}

Result<Roles> roles_of_rows(const Rows& rows) {
  Roles roles;
  for (const auto& row : rows.rows)
    if (!row.empty() && row[0]) roles.push_back(*row[0]);
  std::sort(roles.begin(), roles.end());
  return roles;
}

bool is_negative(const Secret& secret) {
  return std::holds_alternative<protocol::UnknownUser>(secret);
}
bool is_negative(const Roles& roles) {
  return roles.empty();
}

// A query that runs for one user; whoever asks for the same meanwhile waits for `done`.
struct Flight {
  explicit Flight(const asio::any_io_executor& executor) : done(executor, Clock::time_point::max()) {}
  asio::steady_timer done;
  bool ended = false;
  std::optional<Error> error;  // without it after the end: look into the cache
};

}  // namespace

const char* const kDefaultAuthQuery =
    "SELECT rolname, CASE WHEN rolvaliduntil < now() THEN NULL ELSE rolpassword END"
    " FROM pg_authid WHERE rolname=$1 AND rolcanlogin";

// Membership as granted: pg_has_role() would make a superuser a member of every role.
const char* const kDefaultRolesQuery =
    "WITH RECURSIVE m(id) AS (SELECT r.oid FROM pg_catalog.pg_roles r WHERE r.rolname = $1"
    " UNION SELECT a.roleid FROM pg_catalog.pg_auth_members a JOIN m ON a.member = m.id)"
    " SELECT r.rolname FROM pg_catalog.pg_roles r JOIN m ON r.oid = m.id";

struct AuthQuery::Impl {
  Impl(asio::any_io_executor ex, Settings s)
      : executor(std::move(ex)),
        settings(std::move(s)),
        pool(pool_settings(settings)),
        secrets(settings.entries_max),
        roles(settings.entries_max) {}

  template <class T>
  struct Table {
    explicit Table(std::size_t entries_max) : cache(entries_max) {}
    TtlCache<T> cache;
    std::unordered_map<std::string, std::shared_ptr<Flight>> flights;
  };

  // Takes the flight out of the table when its coroutine ends, however it does.
  template <class T>
  struct Landing {
    Table<T>& table;
    const std::string& user;
    std::shared_ptr<Flight> flight;
    ~Landing() {
      table.flights.erase(user);
      flight->ended = true;
      flight->done.cancel();
    }
  };

  template <class T>
  asio::awaitable<Result<T>> find(Table<T>& table, std::string user, std::string sql, Freshness freshness,
                                  Result<T> (*read)(const Rows&));
  template <class T>
  asio::awaitable<Result<T>> fetch(Table<T>& table, const std::string& user, std::string sql,
                                   Result<T> (*read)(const Rows&));
  void report(LookupOutcome outcome) const {
    if (observer) observer(outcome);
  }

  asio::any_io_executor executor;
  Settings settings;
  std::size_t generation = 0;
  std::size_t waiting = 0;
  std::function<void(LookupOutcome)> observer;
  QueryPool pool;
  Table<Secret> secrets;
  Table<Roles> roles;
};

template <class T>
asio::awaitable<Result<T>> AuthQuery::Impl::fetch(Table<T>& table, const std::string& user, std::string sql,
                                                  Result<T> (*read)(const Rows&)) {
  auto flight = std::make_shared<Flight>(executor);
  table.flights.emplace(user, flight);
  const Landing<T> landing{table, user, flight};
  const std::size_t generation_before = generation;

  std::vector<std::optional<std::string>> params;
  params.emplace_back(user);
  auto rows = co_await pool.query(std::move(sql), std::move(params));
  if (!rows) {
    const PgError& e = rows.error();
    // One who gave up does not speak for the others: they try themselves.
    if (e.error.code != BaseErrc::Cancelled) flight->error = e.error;
    report(LookupOutcome::Failed);
    log::warning("auth_query failed", {{"sqlstate", e.sqlstate}, {"error", e.message}});
    co_return e.error;
  }
  Result<T> value = read(*rows);
  if (!value) {
    flight->error = value.error();
    report(LookupOutcome::Failed);
    log::warning("auth_query gave an unusable answer",
                 {{"user", user}, {"error", value.error().code.message()}});
    co_return value;
  }
  const bool negative = is_negative(*value);
  report(negative ? LookupOutcome::NotFound : LookupOutcome::Found);
  if (generation == generation_before)
    table.cache.put(user, *value, Clock::now(), negative ? settings.negative_ttl : settings.ttl);
  co_return value;
}

template <class T>
asio::awaitable<Result<T>> AuthQuery::Impl::find(Table<T>& table, std::string user, std::string sql,
                                                 Freshness freshness, Result<T> (*read)(const Rows&)) {
  co_await asio::this_coro::throw_if_cancelled(false);
  for (;;) {
    const auto now = Clock::now();
    if (const auto* entry = table.cache.find(user, now)) {
      if (freshness == Freshness::Cached || now - entry->fetched < settings.refresh_interval_min) {
        report(is_negative(entry->value) ? LookupOutcome::NegativeHit : LookupOutcome::Hit);
        co_return entry->value;
      }
    }
    const auto running = table.flights.find(user);
    if (running == table.flights.end()) co_return co_await fetch<T>(table, user, std::move(sql), read);
    if (waiting >= settings.waiting_max) co_return Error(PgErrc::PoolBusy, Side::Server, Retry::Yes);

    const std::shared_ptr<Flight> flight = running->second;
    ++waiting;
    co_await flight->done.async_wait(asio::experimental::as_tuple(asio::use_awaitable));
    --waiting;
    const auto state = co_await asio::this_coro::cancellation_state;
    if (state.cancelled() != asio::cancellation_type::none) co_return Error(BaseErrc::Cancelled);
    if (flight->error) co_return *flight->error;
    freshness = Freshness::Cached;  // what the other has just fetched is new enough
  }
}

AuthQuery::AuthQuery(asio::any_io_executor executor, Settings settings)
    : impl_(std::make_unique<Impl>(std::move(executor), std::move(settings))) {}
AuthQuery::~AuthQuery() = default;

asio::awaitable<Result<Secret>> AuthQuery::lookup(std::string user, Freshness freshness) {
  return impl_->find<Secret>(impl_->secrets, std::move(user), impl_->settings.sql, freshness, &secret_of);
}

asio::awaitable<Result<Roles>> AuthQuery::roles_of(std::string user) {
  return impl_->find<Roles>(impl_->roles, std::move(user), impl_->settings.roles_sql, Freshness::Cached,
                            &roles_of_rows);
}

void AuthQuery::reconfigure(Settings settings) {
  impl_->settings = std::move(settings);
  ++impl_->generation;
  impl_->pool.reconfigure(pool_settings(impl_->settings));
  impl_->secrets.cache = TtlCache<Secret>(impl_->settings.entries_max);
  impl_->roles.cache = TtlCache<Roles>(impl_->settings.entries_max);
}

void AuthQuery::use_servers(std::vector<ConnectParams> servers) {
  impl_->settings.servers = std::move(servers);
  impl_->pool.reconfigure(pool_settings(impl_->settings));
}

void AuthQuery::on_outcome(std::function<void(LookupOutcome)> observer) {
  impl_->observer = std::move(observer);
}

}  // namespace sluice::pgclient
