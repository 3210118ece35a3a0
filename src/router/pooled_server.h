#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "base/bytes.h"
#include "net/buffer_pool.h"
#include "net/io_outcome.h"
#include "net/ring.h"
#include "pooling/server_statements.h"
#include "pooling/settings.h"
#include "protocol/frame_decoder.h"
#include "protocol/reset_machine.h"
#include "router/admission.h"
#include "router/server_connection.h"

namespace sluice::router {

class PooledServer;
struct ServerGroup;

// Whoever has a pooled server connection at the moment.
class ServerUser {
 public:
  enum class Flow { ReadOn, Stop };  // Stop: nothing more is read before PooledServer::read_on()

  // Bytes of the server, valid until it is read on. The server may be given back, or discarded, within.
  virtual Flow on_server_bytes(ByteView bytes) = 0;
  // It is of no more use: end of file, or an error. The user discards it, within or later.
  virtual void on_server_end(std::error_code why) = 0;

 protected:
  ~ServerUser() = default;
};

// A server connection that stays on its thread's event loop and serves one transaction after the other. It is
// being read all the time: for the client that has it, and while it is idle for what a server may say at any
// time and for its end. So handing it on costs no system call, and a dead one is noticed at once.
// Owned by the TransactionPools that made it. Thread: that one's.
class PooledServer {
 public:
  using Clock = std::chrono::steady_clock;
  // What becomes of a connection is for its owner to do.
  class Owner {
   public:
    virtual void on_idle_end(PooledServer& server) = 0;             // it ended while nobody had it
    virtual void on_cleaned(PooledServer& server, bool clean) = 0;  // see clean()
    virtual void on_cancelled(PooledServer& server) = 0;            // nothing can hit it any more
    virtual void on_let_go(
        PooledServer& server) = 0;  // closed, and nothing refers to it any more: destroy it

   protected:
    ~Owner() = default;
  };

  // What it shares with others of its thread. `ring` may be null; TLS keeps off it.
  struct Parts {
    net::BufferPool& buffers;
    net::Ring* ring;
    pooling::SettingsStore& settings_store;
  };
  // Keeps up to `statements_max` prepared statements of its clients.
  PooledServer(Owner& owner, ServerGroup& group, ServerConnection connection, const Parts& parts,
               std::size_t statements_max);
  PooledServer(const PooledServer&) = delete;
  PooledServer& operator=(const PooledServer&) = delete;

  ServerGroup& group() noexcept { return group_; }
  const ServerConnection& connection() const noexcept { return connection_; }
  ServerConnection& connection() noexcept { return connection_; }

  // From here on it is read.
  void start();
  // Null: nobody has it.
  void set_user(ServerUser* user) noexcept { user_ = user; }
  bool in_use() const noexcept { return user_ != nullptr; }
  void read_on();
  net::IoOutcome try_write(ByteView bytes) {
    return port_ ? port_->try_send(bytes) : connection_.stream.try_write(bytes);
  }
  // It was not given all that was written.
  bool send_failed() const noexcept { return port_ && port_->send_failed(); }
  // It is told that no more will come; what it says is still read.
  void shutdown_send() { port_ ? port_->shutdown_send() : connection_.stream.shutdown_send(); }
  // A few bytes of ours to a server that owes nothing: where they do not fit at once, false, something is
  // wrong with it.
  bool write_at_once(ByteView bytes);
  // Handler of (std::error_code): operation_aborted when it is closed meanwhile.
  void async_wait_writable(std::function<void(std::error_code)> handler);

  // Rolls back what is open (`status`: of its last ReadyForQuery), and runs `reset_query` unless it is empty.
  // Then Owner::on_cleaned(). Nobody has it, nothing is owed but to `doubtful_syncs`, of the SessionTracker.
  void clean(char status, std::uint32_t doubtful_syncs, std::string reset_query,
             Clock::time_point give_up_at);
  std::optional<Clock::time_point> cleaning_until() const noexcept {
    return cleaner_ ? std::optional(cleaner_->give_up_at) : std::nullopt;
  }

  // Alive and silent as far as is known. `now`: a connection that was used a moment ago is not asked about.
  bool fit_for_use(Clock::time_point now);
  void close();  // Owner::on_let_go() when nothing refers to it
  bool closed() const noexcept { return closed_; }

  // CancelRequests on their way to it: it is not handed on before they have arrived.
  void cancel_begins() noexcept { ++cancels_; }
  void cancel_ends();
  bool being_cancelled() const noexcept { return cancels_ > 0; }
  // Not to be handed on any more.
  void retire() noexcept { retired_ = true; }
  bool retired() const noexcept { return retired_; }

  Clock::time_point idle_since{};
  std::uint64_t last_session = 0;  // that used it
  bool discard_first = false;      // before a client has it
  std::optional<Granted> slot;     // of who left it at work: until it is clean, or closed
  pooling::ServerStatements statements;
  pooling::ServerSettings settings;

 private:
  struct Cleaner {
    protocol::ResetMachine machine;
    Clock::time_point give_up_at;
  };

  void on_read(std::error_code ec, std::size_t count);
  void on_port_closed();
  void on_idle_bytes(ByteView bytes);
  void on_cleaner_bytes(ByteView bytes);
  void step_cleaner();
  void let_go_if_possible();

  Owner& owner_;
  ServerGroup& group_;
  ServerConnection connection_;
  std::optional<net::RingPort> port_;                 // from start(), where there is a ring
  net::PooledBuffer buffer_;                          // with a port: while its bytes are looked at
  std::function<void(std::error_code)> on_writable_;  // waits at the port
  ServerUser* user_ = nullptr;
  std::optional<Cleaner> cleaner_;
  std::unique_ptr<protocol::FrameDecoder> unasked_;  // a part of a message that came while it was idle
  int pending_ = 0;                                  // operations that will call back, and our own frames
  int cancels_ = 0;
  bool reading_ = false;
  bool closed_ = false;
  bool retired_ = false;
};

}  // namespace sluice::router
