#include "router/worker.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include <asio/co_spawn.hpp>
#include <asio/experimental/as_tuple.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>
#include <fmt/format.h>
#include <pthread.h>
#include <sys/stat.h>

#include "base/error.h"
#include "router/random.h"
#include "telemetry/log.h"

namespace sluice::router {
namespace {

using namespace std::chrono_literals;

constexpr auto kTick = 500ms;
// How long sessions get to tell their clients before the thread ends.
constexpr auto kWindUp = 5s;

}  // namespace

Shared::Shared(Admission& table, Directory& users) : admission(table), directory(users) {}
Shared::~Shared() = default;

DatabaseGates::Pause Shared::pause(const DatabaseGates::Name& database) {
  const DatabaseGates::Pause outcome = gates.pause(database);
  admission.set_paused([this](std::string_view name) { return gates.paused(name); });
  return outcome;
}

bool Shared::resume(const DatabaseGates::Name& database) {
  if (!gates.resume(database)) return false;
  // Those that were queued came before those that wait at the gate.
  admission.set_paused([this](std::string_view name) { return gates.paused(name); });
  for (const auto& worker : workers)
    worker->wake_at_gate();
  return true;
}

void Shared::drop_servers(ServerId server) {
  pool.drop(server);
  for (const auto& worker : workers)
    worker->drop_servers(server);
}

void Shared::drop_idle(const std::optional<std::string>& server_database) {
  refused_logins.clear();  // whoever says RECONNECT may have mended them
  server_database ? pool.drop_database(*server_database) : pool.drop_all();
  for (const auto& worker : workers)
    worker->drop_idle(server_database);
}

Worker::Worker(Shared& shared, unsigned index, SnapshotPtr snapshot, telemetry::ThreadMetrics& metrics)
    : shared_(shared),
      index_(index),
      snapshot_(std::move(snapshot)),
      metrics_(metrics),
      work_(asio::make_work_guard(io_)),
      buffers_(snapshot_->options().pkt_buf),
      calls_(metrics, shared.calls_finished),
      recording_(index, shared.recorded),
      at_gate_(io_.get_executor()),
      sizes_(shared.size_book),
      slot_requests_(io_.get_executor(), shared.admission),
      tasks_(io_.get_executor()) {
  sizes_.set_active(config::learns_sizes(*snapshot_->config));
}

Worker::~Worker() {
  join();
}

Result<void> Worker::listen(const Worker* first, net::InheritedSockets* inherited, std::string& problem) {
  const bool reuse_port = snapshot_->options().so_reuseport;
  std::set<std::string> shared_entries;
  if (first != nullptr) {
    for (const auto& [name, listener] : first->listeners_) {
      if (reuse_port && listener.reuses_port()) continue;
      auto shared = listener.share(io_.get_executor());
      if (!shared) {
        problem = "cannot share a listening socket: " + shared.error().code.message();
        return shared.error();
      }
      listeners_.emplace_back(name, *std::move(shared));
      shared_entries.insert(name);
    }
    if (!reuse_port) return {};
  }
  for (const config::Listener& entry : snapshot_->config->listeners) {
    if (shared_entries.contains(entry.name)) continue;
    net::ListenerSettings settings;
    settings.address = entry.address;
    settings.port = static_cast<std::uint16_t>(entry.port);
    settings.backlog = static_cast<int>(snapshot_->options().listen_backlog);
    settings.reuse_port = reuse_port;
    settings.defer_accept = snapshot_->options().tcp_defer_accept;
    settings.options = snapshot_->socket_options;
    settings.inherited = inherited;
    if (reuse_port && !settings.is_unix()) {
      settings.share = index_;
      settings.shares = shared_.workers.size();
    }
    auto opened = net::Listener::open(io_.get_executor(), settings, problem);
    if (!opened) return opened.error();
    for (net::Listener& listener : *opened)
      listeners_.emplace_back(entry.name, std::move(listener));
  }
  return {};
}

void Worker::begin(std::unique_ptr<admin::RouterView> view) {
  view_ = std::move(view);
  accepting_.store(listeners_.size(), std::memory_order_relaxed);
  for (auto& [name, listener] : listeners_)
    tasks_.spawn("accept", accept_from(name, listener));
  tasks_.spawn("tick", tick());
}

void Worker::start(std::unique_ptr<admin::RouterView> view) {
  begin(std::move(view));
  shared_.workers_running.fetch_add(1);
  thread_ = std::thread([this] {
    run();
    shared_.workers_running.fetch_sub(1);
  });
}

// A ring belongs to the thread that opened it.
void Worker::run() {
  pthread_setname_np(pthread_self(), fmt::format("worker {}", index_).c_str());
  const config::IoEngine engine = snapshot_->options().io_engine;
  if (engine != config::IoEngine::Epoll) {
    std::error_code why;
    ring_ = net::Ring::open(io_, buffers_, why);
    if (!ring_ && engine == config::IoEngine::IoUring)
      log::warning("no io_uring here; sessions use epoll", {{"thread", index_}, {"reason", why.message()}});
  }
  io_.run();
}

void Worker::replace_snapshot(SnapshotPtr snapshot, telemetry::Extents extents) {
  asio::post(io_, [this, snapshot = std::move(snapshot), extents]() mutable {
    metrics_.fit(extents);
    transaction_pools_.replace_snapshot(*snapshot_, *snapshot);
    const SnapshotPtr before = std::exchange(snapshot_, std::move(snapshot));
    listening_.replace_snapshot(*before, *snapshot_);
    sizes_.set_active(config::learns_sizes(*snapshot_->config));
  });
}

void Worker::stop_accepting() {
  asio::post(io_, [this] {
    for (auto& [name, listener] : listeners_)
      listener.close();
  });
}

std::vector<int> Worker::listening() const {
  std::vector<int> all;
  for (const auto& [name, listener] : listeners_)
    if (!listener.is_shared()) all.push_back(listener.descriptor());
  return all;
}

void Worker::own_socket_files(bool own) {
  asio::post(io_, [this, own] {
    for (auto& [name, listener] : listeners_)
      if (!listener.is_shared()) listener.own_file(own);
  });
}

void Worker::accept_at(std::string path) {
  asio::post(io_, [this, path = std::move(path)] {
    net::ListenerSettings settings;
    settings.address = path;
    std::string problem;
    auto opened = net::Listener::open(io_.get_executor(), settings, problem);
    if (!opened || ::chmod(path.c_str(), S_IRUSR | S_IWUSR) != 0) {
      log::warning("cancel requests by way of the successor are not taken", {{"reason", problem}});
      return;
    }
    behind_.emplace(std::move(opened->front()));
    tasks_.spawn("accept", accept_from(std::string(kBehind), *behind_));
  });
}

void Worker::wake_at_gate() {
  asio::post(io_, [this] { at_gate_.wake_all(); });
}

void Worker::drop_servers(ServerId server) {
  asio::post(io_, [this, server] {
    transaction_pools_.drop(server);
    listening_.drop(server);
  });
}

void Worker::drop_idle(std::optional<std::string> server_database) {
  asio::post(io_, [this, database = std::move(server_database)] { transaction_pools_.drop_idle(database); });
}

void Worker::end_sessions(std::function<bool(const Session&)> which, protocol::ErrorFields why,
                          telemetry::CloseReason cause) {
  asio::post(io_, [this, which = std::move(which), why = std::move(why), cause] {
    for (const auto& [id, session] : sessions_)
      if (which(*session)) session->stop(why, cause);
  });
}

void Worker::stop() {
  asio::post(io_, [this] {
    if (std::exchange(stopping_, true)) return;
    for (auto& [name, listener] : listeners_)
      listener.close();
    if (behind_) behind_->close();
    asio::co_spawn(io_, wind_up(), [this](std::exception_ptr) {
      work_.reset();
      io_.stop();
    });
  });
}

void Worker::join() {
  if (thread_.joinable()) thread_.join();
}

void Worker::run_leftovers() {
  io_.restart();
  io_.poll();
}

asio::awaitable<void> Worker::wind_up() {
  const protocol::ErrorFields why{"FATAL", "57P01", "terminating connection due to administrator command", "",
                                  "The router is shutting down."};
  const auto give_up_at = std::chrono::steady_clock::now() + kWindUp;
  asio::steady_timer timer(io_);
  while (!sessions_.empty() && std::chrono::steady_clock::now() < give_up_at) {
    for (const auto& [id, session] : sessions_)
      session->stop(why, telemetry::CloseReason::Shutdown);
    timer.expires_after(20ms);
    co_await timer.async_wait(asio::experimental::as_tuple(asio::use_awaitable));
  }
  transaction_pools_.close_all();
  listening_.close_all();
  while (transaction_pools_.count() > 0 && std::chrono::steady_clock::now() < give_up_at) {
    timer.expires_after(1ms);
    co_await timer.async_wait(asio::experimental::as_tuple(asio::use_awaitable));
  }
  co_await tasks_.stop();
}

unsigned Worker::index_of(std::int32_t process_id, std::size_t worker_count) noexcept {
  return static_cast<unsigned>(static_cast<std::uint32_t>(process_id) % worker_count);
}

std::int32_t Worker::give_process_id(Session& session) {
  const auto count = static_cast<std::uint32_t>(shared_.workers.size());
  for (;;) {
    // Positive, never 0, and congruent to this worker's index.
    std::uint32_t value = random_u32() & 0x7FFFFFFFu;
    value -= value % count;
    value += index_;
    if (value == 0 || value > 0x7FFFFFFFu) continue;
    const auto id = static_cast<std::int32_t>(value);
    if (by_process_id_.emplace(id, &session).second) return id;
  }
}

void Worker::add(Session& session) {
  sessions_.emplace(session.id().value(), &session);
  session_count_.store(sessions_.size(), std::memory_order_relaxed);
}

void Worker::remove(Session& session) {
  sessions_.erase(session.id().value());
  session_count_.store(sessions_.size(), std::memory_order_relaxed);
  if (session.process_id() != 0) by_process_id_.erase(session.process_id());
}

asio::awaitable<Result<bool>> Worker::cancel(protocol::CancelRequest request, CancelFrom from) {
  const auto found = by_process_id_.find(request.process_id);
  if (found != by_process_id_.end() && found->second->has_key(request.secret)) {
    const SessionId id = found->second->id();
    co_await cancel_session(id);
    co_return true;
  }
  if (!unknown_cancels_.take(snapshot_->options().cancel_rate_limit, CancelAllowance::Clock::now())) {
    metrics_.count(telemetry::metric::cancels_total, telemetry::CancelResult::RateLimited);
    co_return false;
  }
  bool taken = false;
  if (from == CancelFrom::Client && !shared_.predecessor_cancels.empty()) {
    std::vector<std::string> paths = shared_.predecessor_cancels;
    taken = co_await pass_cancel_on(std::move(paths), std::move(request),
                                    snapshot_->options().cancel_wait_timeout);
  }
  metrics_.count(telemetry::metric::cancels_total,
                 taken ? telemetry::CancelResult::Forwarded : telemetry::CancelResult::UnknownKey);
  unknown_cancels_.give_back();
  co_return false;
}

// One of a session at a time, and one behind it, which comes after all that was asked for meanwhile: so what
// waits is bounded by the number of sessions, and whoever sends without end takes nobody's turn. A client
// that has an answer to each of its requests has none under way.
asio::awaitable<void> Worker::cancel_session(SessionId id) {
  const auto [entry, first] = cancelling_.try_emplace(id.value(), Cancelling::Waits);
  Cancelling& state = entry->second;  // stays where it is until it is erased below
  if (!first) {
    if (state == Cancelling::Runs)
      state = Cancelling::RunsAndWaits;
    else
      metrics_.count(telemetry::metric::cancels_total, telemetry::CancelResult::Forwarded);
    co_return;
  }
  do {
    state = Cancelling::Waits;
    co_await cancel_turns_.take();
    state = Cancelling::Runs;
    const auto session = sessions_.find(id.value());
    if (session == sessions_.end())
      metrics_.count(telemetry::metric::cancels_total, telemetry::CancelResult::NothingRunning);
    else
      co_await session->second->cancel();
    cancel_turns_.give_back();
  } while (state == Cancelling::RunsAndWaits);
  cancelling_.erase(id.value());
}

asio::awaitable<void> Worker::accept_from(std::string name, net::Listener& listener) {
  co_await asio::this_coro::throw_if_cancelled(false);
  for (;;) {
    Result<net::Socket> accepted = co_await listener.accept();
    if (!accepted) {
      if (!behind_ || &listener != &*behind_) accepting_.fetch_sub(1, std::memory_order_release);
      if (!stopping_ && accepted.error().code != BaseErrc::Cancelled)
        log::error("a listening socket is broken: no more clients come in by it",
                   {{"listener", name}, {"reason", accepted.error().code.message()}});
      co_return;
    }
    tasks_.spawn("session", serve(*std::move(accepted), name));
  }
}

asio::awaitable<void> Worker::serve(net::Socket socket, std::string listener) {
  co_await asio::this_coro::throw_if_cancelled(false);
  // On the heap, so that the coroutine's frame stays small and the session's address is its own.
  auto session = std::make_unique<Session>(*this, net::Stream(std::move(socket)), std::move(listener));
  co_await session->run();
}

asio::awaitable<void> Worker::tick() {
  co_await asio::this_coro::throw_if_cancelled(false);
  asio::steady_timer timer(io_);
  int ticks = 0;
  for (;;) {
    timer.expires_after(kTick);
    const auto [ec] = co_await timer.async_wait(asio::experimental::as_tuple(asio::use_awaitable));
    if (ec || stopping_) co_return;
    const auto now = Session::Clock::now();
    for (const auto& [id, session] : sessions_)
      session->tick(now);
    if (const ClientLegs::Batch readings = leg_sampler_.tick(sessions_, now); !readings.empty())
      shared_.client_legs.add(readings);
    transaction_pools_.tick(now);
    listening_.tick(now);
    calls_.hand_over();
    sizes_.hand_over();
    recording_.hand_over();
    if (++ticks % 2 == 0) buffers_.trim();
    report_exhaustion();
  }
}

void Worker::report_exhaustion() {
  std::uint64_t now = 0;
  for (const auto& [name, listener] : listeners_)
    now += listener.exhaustions();
  if (now == exhaustions_) return;
  exhaustions_ = now;
  log::warning("clients wait to be accepted: no descriptors or memory left",
               {{"hint", "raise LimitNOFILE, or lower max_client_conn"}});
}

}  // namespace sluice::router
