#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include <asio/awaitable.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>

#include "sluice/rng.h"

#include "http/head.h"
#include "net/buffer_pool.h"
#include "net/listener.h"
#include "net/task_group.h"
#include "placer/access_log.h"
#include "placer/connection.h"
#include "placer/shared.h"
#include "placer/snapshot.h"
#include "placer/upstream_pool.h"
#include "telemetry/metrics.h"

namespace sluice::placer {

// One thread with its own event loop, listening sockets, and connections to the compute hosts. Client
// connections live and die here. Thread: what is marked "any thread" may be called from everywhere; the rest
// on the worker's own thread alone.
class Worker {
 public:
  // What a client may still send after it was told that this is the end, and how long.
  static constexpr std::uint64_t kLingerBytesMax = 16 * 1024 * 1024;
  static constexpr std::chrono::seconds kLingerTime{2};
  // An idle connection gives its buffer back after this long.
  static constexpr std::chrono::milliseconds kParkAfter{1000};

  Worker(Shared& shared, ViewPtr view, telemetry::ThreadMetrics& metrics);
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker();

  struct Listening {
    // In place of a configured 0, once the first worker has got one.
    std::uint16_t port = 0, tls_port = 0;
    // Sockets to take over, of which each worker has its share; may be null.
    net::InheritedSockets* inherited = nullptr;
    std::size_t index = 0, workers = 1;
  };
  // Before start(): opens the listening sockets; Unix sockets are shared with the first worker, null for that
  // one itself. On an error `problem` says which address and why.
  Result<void> listen(const Worker* first, Listening& how, std::string& problem);
  void start();

  // Any thread.
  void replace_view(ViewPtr view, telemetry::Extents extents);
  // Of the listening sockets, but for those shared with another worker. Any thread while it accepts.
  std::vector<int> listening() const;
  // See net::Listener::own_file().
  void own_socket_files(bool own);
  // Accepts no more, and drains the connections.
  void drain(Drain how);
  // Ends everything and lets the thread finish; join() waits for it.
  void stop();
  void join();
  asio::io_context& context() noexcept { return io_; }

  // For connections.
  net::BufferPool& buffers() noexcept { return buffers_; }
  UpstreamPool& upstreams() noexcept { return upstreams_; }
  telemetry::ThreadMetrics& metrics() noexcept { return metrics_; }
  const ViewPtr& view() const noexcept { return view_; }
  Rng& rng() noexcept { return rng_; }
  // Scratch for the duration of a call.
  http::RequestHead& request_head() noexcept { return request_head_; }
  http::ResponseHead& response_head() noexcept { return response_head_; }
  std::vector<std::string_view>& pieces() noexcept { return pieces_; }
  // Opens a connection for the client connection with that id; which is told, if it is still there.
  void connect(const HostPtr& host, std::chrono::milliseconds timeout, std::uint64_t connection);
  void remove(Connection& connection);
  bool logs_requests() const noexcept { return shared_.access_log != nullptr; }
  void log_request(const RequestLine& line);

 private:
  struct Entry {
    net::Listener listener;
    bool tls = false;
  };
  asio::awaitable<void> accept_from(std::size_t index);
  asio::awaitable<void> shake_hands(net::Socket socket, Connection::Origin origin);
  asio::awaitable<void> connect_to(HostPtr host, std::chrono::milliseconds timeout, std::uint64_t connection);
  asio::awaitable<void> tick();
  asio::awaitable<void> wind_up();
  void take_in(net::Socket socket, bool tls);
  void begin(net::Stream stream, Connection::Origin origin);

  Shared& shared_;
  ViewPtr view_;
  telemetry::ThreadMetrics& metrics_;
  Rng rng_;
  asio::io_context io_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  net::BufferPool buffers_;
  UpstreamPool upstreams_;
  std::vector<Entry> listeners_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Connection>> connections_;
  std::uint64_t last_id_ = 0;
  http::RequestHead request_head_;
  http::ResponseHead response_head_;
  std::vector<std::string_view> pieces_;
  AccessLog access_log_;
  std::size_t idle_reported_ = 0;
  Drain draining_ = Drain::No;
  bool stopping_ = false;
  net::TaskGroup tasks_;
  std::thread thread_;
};

}  // namespace sluice::placer
