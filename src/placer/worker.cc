#include "placer/worker.h"

#include <random>
#include <utility>

#include <asio/co_spawn.hpp>
#include <asio/experimental/as_tuple.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include "config/network.h"
#include "http/page.h"
#include "net/connect.h"
#include "net/deadline.h"
#include "net/socket_address.h"
#include "telemetry/log_settings.h"

namespace sluice::placer {
namespace {

using namespace std::chrono_literals;

constexpr auto kTick = 100ms;
constexpr auto kTrim = 1s;

std::uint64_t seed() {
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

}  // namespace

Worker::Worker(Shared& shared, ViewPtr view, telemetry::ThreadMetrics& metrics)
    : shared_(shared),
      view_(std::move(view)),
      metrics_(metrics),
      rng_(seed()),
      work_(asio::make_work_guard(io_)),
      buffers_(view_->snapshot->options().buffer_size),
      upstreams_(buffers_),
      tasks_(io_.get_executor()) {}

Worker::~Worker() {
  join();
}

Result<void> Worker::listen(const Worker* first, Listening& how, std::string& problem) {
  const config::PlacerOptions& options = view_->snapshot->options();
  const auto open = [&](std::uint16_t& port, std::uint32_t configured, bool tls) -> Result<void> {
    if (port == 0) port = static_cast<std::uint16_t>(configured);
    for (const std::string& address : options.listen_addr) {
      net::ListenerSettings settings;
      settings.address = address;
      if (settings.is_unix() && (tls || first != nullptr)) continue;
      settings.port = port;
      settings.backlog = static_cast<int>(options.listen_backlog);
      settings.inherited = how.inherited;
      if (!settings.is_unix()) {
        settings.share = how.index;
        settings.shares = how.workers;
      }
      auto opened = net::Listener::open(io_.get_executor(), settings, problem);
      if (!opened) return opened.error();
      for (net::Listener& listener : *opened) {
        if (port == 0) port = listener.port();
        listeners_.push_back({std::move(listener), tls});
      }
    }
    return {};
  };
  if (const auto done = open(how.port, options.listen_port, false); !done) return done;
  if (first != nullptr) {
    for (const Entry& entry : first->listeners_) {
      if (!entry.listener.is_unix()) continue;
      auto shared = entry.listener.share(io_.get_executor());
      if (!shared) {
        problem = "cannot share a listening socket: " + shared.error().code.message();
        return shared.error();
      }
      listeners_.push_back({*std::move(shared), entry.tls});
    }
  }
  if (options.listen_tls_port == 0) return {};
  return open(how.tls_port, options.listen_tls_port, true);
}

void Worker::start() {
  shared_.listeners_accepting.fetch_add(listeners_.size());
  for (std::size_t i = 0; i < listeners_.size(); ++i)
    tasks_.spawn("accept", accept_from(i));
  tasks_.spawn("tick", tick());
  shared_.workers_running.fetch_add(1);
  thread_ = std::thread([this] {
    io_.run();
    shared_.workers_running.fetch_sub(1);
  });
}

void Worker::replace_view(ViewPtr view, telemetry::Extents extents) {
  asio::post(io_, [this, view = std::move(view), extents]() mutable {
    metrics_.fit(extents);
    // Hosts that are gone: nobody will ask for their connections any more.
    for (const HostPtr& host : view_->snapshot->hosts) {
      const auto& hosts = view->snapshot->hosts;
      if (std::find(hosts.begin(), hosts.end(), host) == hosts.end()) upstreams_.drop_idle(host.get());
    }
    view_ = std::move(view);
  });
}

std::vector<int> Worker::listening() const {
  std::vector<int> all;
  for (const Entry& entry : listeners_)
    if (!entry.listener.is_shared()) all.push_back(entry.listener.descriptor());
  return all;
}

void Worker::own_socket_files(bool own) {
  asio::post(io_, [this, own] {
    for (Entry& entry : listeners_)
      if (!entry.listener.is_shared()) entry.listener.own_file(own);
  });
}

void Worker::drain(Drain how) {
  asio::post(io_, [this, how] {
    if (draining_ >= how) return;
    if (std::exchange(draining_, how) == Drain::No) {
      for (Entry& entry : listeners_)
        entry.listener.close();
    }
    for (auto at = connections_.begin(); at != connections_.end();)
      (at++)->second->drain(how);
  });
}

void Worker::stop() {
  asio::post(io_, [this] {
    if (std::exchange(stopping_, true)) return;
    draining_ = Drain::Now;
    for (Entry& entry : listeners_)
      entry.listener.close();
    asio::co_spawn(io_, wind_up(), [this](std::exception_ptr) { work_.reset(); });
  });
}

void Worker::join() {
  if (thread_.joinable()) thread_.join();
}

asio::awaitable<void> Worker::wind_up() {
  co_await tasks_.stop();
  for (auto at = connections_.begin(); at != connections_.end();)
    (at++)->second->cut();
  upstreams_.drop_idle();
  // What is closed ends within a turn of the loop.
  while (!connections_.empty() || upstreams_.size() > 0)
    co_await asio::post(io_, asio::use_awaitable);
  if (shared_.access_log != nullptr) access_log_.flush(*shared_.access_log);
}

asio::awaitable<void> Worker::accept_from(std::size_t index) {
  co_await asio::this_coro::throw_if_cancelled(false);
  for (;;) {
    Result<net::Socket> accepted = co_await listeners_[index].listener.accept();
    if (!accepted) {
      shared_.listeners_accepting.fetch_sub(1, std::memory_order_release);
      co_return;
    }
    take_in(*std::move(accepted), listeners_[index].tls);
  }
}

void Worker::take_in(net::Socket socket, bool tls) {
  metrics_.count(telemetry::metric::placer_client_connections_total);
  const net::SocketAddress peer = net::peer_address(socket.native_handle());
  const config::PlacerOptions& options = view_->snapshot->options();
  Connection::Origin origin;
  origin.address = peer.is_unix ? "" : peer.address;
  origin.tls = tls;
  origin.accepted = Connection::Clock::now();
  const auto address =
      peer.is_unix ? std::optional(config::unix_address()) : config::parse_address(peer.address);
  origin.trusted = address && config::contains_any(options.trusted_proxies, *address);
  if (shared_.client_connections.load(std::memory_order_relaxed) >= options.max_client_connections) {
    metrics_.count(telemetry::metric::placer_refusals_total, telemetry::PlacerRefusal::MaxConnections);
    net::Stream stream(std::move(socket));
    http::Page page;
    page.status = 503;
    page.body =
        "503 Service Unavailable: The placer has as many connections as max_client_connections allows.\n";
    if (!tls)
      stream.try_write(as_bytes(http::serialize(page, http::Body::Whole, http::Connection::Close,
                                                std::chrono::system_clock::now())));
    return;
  }
  if (!tls) return begin(net::Stream(std::move(socket)), std::move(origin));
  shared_.client_connections.fetch_add(1, std::memory_order_relaxed);  // while the handshake lasts
  tasks_.spawn("handshake", shake_hands(std::move(socket), std::move(origin)));
}

asio::awaitable<void> Worker::shake_hands(net::Socket socket, Connection::Origin origin) {
  co_await asio::this_coro::throw_if_cancelled(false);
  net::Stream stream(std::move(socket));
  bool shaken = false;
  {
    const net::Deadline deadline(io_.get_executor(), view_->snapshot->options().request_header_timeout,
                                 [&stream] { stream.close(); });
    std::shared_ptr<const net::TlsContext> context = view_->snapshot->tls;
    std::string no_name;
    const auto done = co_await stream.handshake(std::move(context), net::TlsRole::Server, std::move(no_name));
    shaken = done && !deadline.expired();
  }
  shared_.client_connections.fetch_sub(1, std::memory_order_relaxed);
  if (!shaken) {
    metrics_.count(telemetry::metric::placer_refusals_total, telemetry::PlacerRefusal::TlsFailed);
    co_return;
  }
  if (!stopping_) begin(std::move(stream), std::move(origin));
}

void Worker::begin(net::Stream stream, Connection::Origin origin) {
  shared_.client_connections.fetch_add(1, std::memory_order_relaxed);
  const std::uint64_t id = ++last_id_;
  auto made = std::make_unique<Connection>(*this, id, std::move(stream), std::move(origin));
  Connection& connection = *made;
  connections_.emplace(id, std::move(made));
  connection.start();
  if (draining_ != Drain::No) connection.drain(draining_);
}

void Worker::remove(Connection& connection) {
  shared_.client_connections.fetch_sub(1, std::memory_order_relaxed);
  connections_.erase(connection.id());
}

void Worker::connect(const HostPtr& host, std::chrono::milliseconds timeout, std::uint64_t connection) {
  if (tasks_.spawn("connect", connect_to(host, timeout, connection))) return;
  // Only while all is about to be cut.
}

asio::awaitable<void> Worker::connect_to(HostPtr host, std::chrono::milliseconds timeout,
                                         std::uint64_t connection) {
  co_await asio::this_coro::throw_if_cancelled(false);
  // A coroutine begins within its caller, and a connect may fail at once: the connection is still in the
  // middle of asking for it.
  co_await asio::post(io_, asio::use_awaitable);
  net::ConnectTarget target = host->target;
  const net::SocketOptions options{};
  Result<net::Stream> made = co_await net::connect(std::move(target), timeout, options);
  const auto found = connections_.find(connection);
  if (found == connections_.end()) co_return;
  if (made) {
    found->second->on_connected(*std::move(made));
  } else {
    found->second->on_connect_failed(made.error().code);
  }
}

void Worker::log_request(const RequestLine& line) {
  const config::PlacerOptions& options = view_->snapshot->options();
  const log::Format format = log::format_of(options.log_format);
  access_log_.add(line, format, options.access_log_query);
  if (access_log_.large()) access_log_.flush(*shared_.access_log);
}

asio::awaitable<void> Worker::tick() {
  co_await asio::this_coro::throw_if_cancelled(false);
  asio::steady_timer timer(io_);
  auto trimmed = Connection::Clock::now();
  for (;;) {
    timer.expires_after(kTick);
    const auto [ec] = co_await timer.async_wait(asio::experimental::as_tuple(asio::use_awaitable));
    if (ec || stopping_) co_return;
    const auto now = Connection::Clock::now();
    // A connection may end itself, no other, and none begins meanwhile.
    for (auto at = connections_.begin(); at != connections_.end();)
      (at++)->second->tick(now);
    upstreams_.tick(now, view_->snapshot->options().upstream_idle_timeout);
    const std::size_t idle = upstreams_.idle_count();
    shared_.upstream_idle.fetch_add(idle - std::exchange(idle_reported_, idle), std::memory_order_relaxed);
    if (shared_.access_log != nullptr) access_log_.flush(*shared_.access_log);
    if (now - trimmed < kTrim) continue;
    trimmed = now;
    buffers_.trim();
  }
}

}  // namespace sluice::placer
