#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include <asio/awaitable.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>

#include "admin/router_view.h"
#include "net/buffer_pool.h"
#include "net/listener.h"
#include "net/ring.h"
#include "net/task_group.h"
#include "protocol/startup_packet.h"
#include "router/call_collector.h"
#include "router/cancel.h"
#include "router/database_gates.h"
#include "router/leg_sampler.h"
#include "router/listen_registry.h"
#include "router/listeners.h"
#include "router/recording_batch.h"
#include "router/session.h"
#include "router/shared.h"
#include "router/size_learner.h"
#include "router/slot_request.h"
#include "router/snapshot.h"
#include "router/transaction_pools.h"
#include "telemetry/metrics.h"

namespace sluice::router {

// One thread with its own event loop and its own listening sockets. Sessions live and die here.
// Thread: what is marked "any thread" may be called from everywhere; the rest on the worker's own thread
// alone.
class Worker {
 public:
  Worker(Shared& shared, unsigned index, SnapshotPtr snapshot, telemetry::ThreadMetrics& metrics);
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker();

  // Before start(): opens the listening sockets, or without so_reuseport shares those of `first`, which may
  // be null. On an error `problem` says which address and why.
  // Sockets of `inherited`, which may be null, are taken over: this worker's share of each address.
  Result<void> listen(const Worker* first, net::InheritedSockets* inherited, std::string& problem);
  // Begins to accept, on whichever thread runs context().
  void begin(std::unique_ptr<admin::RouterView> view);
  // begin(), and a thread of its own that runs it.
  void start(std::unique_ptr<admin::RouterView> view);

  // Of the listening sockets, but for those shared with another worker. Any thread while it accepts.
  std::vector<int> listening() const;

  // Any thread.
  // False once stop_accepting() has taken effect, and whoever came before it is a session.
  bool accepting() const noexcept { return accepting_.load(std::memory_order_acquire) > 0; }
  void own_socket_files(bool own);
  // Also takes cancel requests that reached a successor, and nothing else, by a Unix socket made at `path`,
  // for its owner alone.
  void accept_at(std::string path);
  // Such a client's listener; no name that a configuration can give.
  static constexpr std::string_view kBehind = "(behind)";
  void replace_snapshot(SnapshotPtr snapshot, telemetry::Extents extents);
  void stop_accepting();
  // Lets sessions look again at the gate of their database.
  void wake_at_gate();
  // Closes the idle server connections to a server that is gone, and those in use when they come back.
  void drop_servers(ServerId server);
  // Closes the idle server connections to a database, by its name on the server; to all without a name.
  void drop_idle(std::optional<std::string> server_database);
  // Ends sessions: all, those of one database, or those on one server. Console sessions stay unless `all`.
  void end_sessions(std::function<bool(const Session&)> which, protocol::ErrorFields why,
                    telemetry::CloseReason cause);
  // Ends everything and lets the thread finish; join() waits for it.
  void stop();
  void join();
  // After join(), on any thread: runs what other threads asked of this one when it had ended already. What
  // waits in an event loop may hold a part of another one, and must not outlive it.
  void run_leftovers();
  asio::io_context& context() noexcept { return io_; }
  std::size_t session_count() const noexcept { return session_count_.load(std::memory_order_relaxed); }
  unsigned index() const noexcept { return index_; }

  // The worker that gave out a BackendKeyData, told by its process id.
  static unsigned index_of(std::int32_t process_id, std::size_t worker_count) noexcept;
  // Cancels the query of the session that the key names, if it runs one. On this worker's thread. A key that
  // no session here has is limited by cancel_rate_limit; it goes to the processes that were taken over from,
  // and no further: those ask nobody, lest one is cancelled twice. The answer says nothing.
  enum class CancelFrom { Client, Successor };
  asio::awaitable<Result<bool>> cancel(protocol::CancelRequest request, CancelFrom from);

  // For sessions.
  Shared& shared() noexcept { return shared_; }
  const SnapshotPtr& snapshot() const noexcept { return snapshot_; }
  net::BufferPool& buffers() noexcept { return buffers_; }
  // Null where the event loop alone moves the bytes (io_engine).
  net::Ring* ring() noexcept { return ring_.get(); }
  telemetry::ThreadMetrics& metrics() noexcept { return metrics_; }
  CallCollector& calls() noexcept { return calls_; }
  SizeLearner& sizes() noexcept { return sizes_; }
  RecordingBuffer& recording() noexcept { return recording_; }
  SlotRequests& slot_requests() noexcept { return slot_requests_; }
  TransactionPools& transaction_pools() noexcept { return transaction_pools_; }
  const TransactionPools& transaction_pools() const noexcept { return transaction_pools_; }
  ListenRegistry& listen_registry() noexcept { return listen_registry_; }
  // Of the first worker; for the others to post to.
  Listeners& listeners() noexcept { return listening_; }
  const Listeners& listeners() const noexcept { return listening_; }
  admin::RouterView& view() noexcept { return *view_; }
  // Sessions whose database is paused.
  WakeList& at_gate() noexcept { return at_gate_; }
  void add(Session& session);
  void remove(Session& session);
  // A process id that no session here has, and the session behind it from now on.
  std::int32_t give_process_id(Session& session);
  bool spawn(const char* name, asio::awaitable<void> task) { return tasks_.spawn(name, std::move(task)); }
  const std::unordered_map<std::uint64_t, Session*>& sessions() const noexcept { return sessions_; }

 private:
  void run();
  asio::awaitable<void> accept_from(std::string name, net::Listener& listener);
  asio::awaitable<void> serve(net::Socket socket, std::string listener);
  asio::awaitable<void> tick();
  void report_exhaustion();
  asio::awaitable<void> wind_up();
  enum class Cancelling { Waits, Runs, RunsAndWaits };
  asio::awaitable<void> cancel_session(SessionId id);

  Shared& shared_;
  const unsigned index_;
  SnapshotPtr snapshot_;
  telemetry::ThreadMetrics& metrics_;
  asio::io_context io_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  net::BufferPool buffers_;
  CallCollector calls_;
  RecordingBuffer recording_;
  std::unique_ptr<net::Ring> ring_;
  std::unique_ptr<admin::RouterView> view_;
  std::vector<std::pair<std::string, net::Listener>> listeners_;  // with the name of its configuration entry
  std::optional<net::Listener> behind_;                           // see accept_at()
  std::atomic<std::size_t> accepting_{0};                         // of listeners_
  std::unordered_map<std::uint64_t, Session*> sessions_;
  std::unordered_map<std::int32_t, Session*> by_process_id_;
  std::atomic<std::size_t> session_count_{0};
  WakeList at_gate_;
  LegSampler leg_sampler_;
  SizeLearner sizes_;
  std::uint64_t exhaustions_ = 0;  // of the listeners, as far as the log has them
  CancelTurns cancel_turns_;
  std::unordered_map<std::uint64_t, Cancelling> cancelling_;  // sessions of which a cancel waits or runs
  CancelAllowance unknown_cancels_;
  bool stopping_ = false;
  SlotRequests slot_requests_;
  TransactionPools transaction_pools_{*this};
  ListenRegistry listen_registry_{*this};
  Listeners listening_{*this};
  net::TaskGroup tasks_;
  std::thread thread_;
};

}  // namespace sluice::router
