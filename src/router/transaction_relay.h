#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "net/buffer_pool.h"
#include "net/ring.h"
#include "net/stream.h"
#include "pooling/session_translator.h"
#include "pooling/settings.h"
#include "protocol/error_response.h"
#include "protocol/header_walker.h"
#include "protocol/session_tracker.h"
#include "router/hand_over.h"
#include "router/pooled_server.h"
#include "router/relay.h"
#include "router/session_meter.h"
#include "router/transaction_pools.h"

namespace sluice::router {

// Moves bytes between a client and whichever server connection runs its transaction: with the first message
// that begins work a server is asked for, and with the last ReadyForQuery that the client is owed, status I,
// it is given back. Each hop is one read, a walk over the message headers, and one write, as in Relay;
// what the other side does not take yet waits here, at most a buffer's worth, and nothing more is read
// meanwhile. What the client sends while it waits for a server is kept as it is, at most two buffers' worth.
// Lifetime: the stream, the tracker, the meter, the pool and the host outlive the relay; the relay outlives
// its
//           completion. Thread: the one of the stream's executor.
class TransactionRelay final : private ServerUser {
 public:
  using Clock = std::chrono::steady_clock;
  using Completion = std::function<void(RelayEnd)>;

  // How it leaves a server: as it got it; at rest, with a transaction block or other state behind; in the
  // middle of something; closed by the server itself.
  enum class Left { Clean, Dirty, Broken, Gone };
  // What a relay asks of its session.
  class Host {
   public:
    // A transaction is to begin, with a message that `first` begin with. The server, or null: then give() or
    // refuse() follows, unless withdrawn.
    virtual PooledServer* server_wanted(ByteView first, Clock::time_point now) = 0;
    // The same once more: the server was lost before anything of the client's was sent.
    virtual PooledServer* server_wanted_again(Clock::time_point now) = 0;
    // It is the client's turn: a connection is being opened for it.
    virtual bool past_gate() const = 0;
    // Where the server's WAL ends is to be asked before it goes: what the answer is.
    virtual bool wants_position() const = 0;
    virtual void position_known(std::uint64_t position) = 0;
    // The client is gone, or its request was cancelled, before there was one.
    virtual void server_not_wanted() = 0;
    // The transaction is over, and the server at rest.
    virtual void server_done(PooledServer& server, Clock::time_point now) = 0;
    // The transaction is over, but the server stays: the session's state is on it.
    virtual void server_pinned() = 0;
    // A server with nothing of another client's on it refused a setting of this one's.
    virtual void settings_refused(protocol::ErrorFields why) = 0;
    // LISTENs of a transaction that may go on were sent. True: nothing more of it is to be sent before
    // open_gate().
    virtual bool listens_begun(std::vector<std::string> channels) = 0;
    // What the client listens to has changed, its transaction being committed. True: it is told so only when
    // open_gate() says that it will miss nothing.
    virtual bool listens_changed(std::vector<pooling::ListenChange> changes) = 0;
    // What the last listens_begun() waits for comes to nothing.
    virtual void listens_failed() = 0;
    // The transactions of all LISTENs that had begun are over; listens_changed() had what was committed.
    virtual void listens_settled() = 0;
    virtual bool listens_to(std::string_view channel) = 0;
    // The client's transaction may have notified itself. True: it is told that it is over only when
    // heard_all() says that what it is to hear of it has been given to notify().
    virtual bool wants_to_hear_all() = 0;
    // The relay ends within a transaction.
    virtual void server_left(PooledServer& server, Left left) = 0;

   protected:
    ~Host() = default;
  };

  // What it shares with others of its thread; `settings` and `translator` are the session's own.
  struct Parts {
    protocol::SessionTracker& tracker;
    pooling::SessionTranslator& translator;
    pooling::ClientSettings& settings;
    SessionMeter& meter;
    net::BufferPool& buffers;
    TransactionPools& pools;
    RelayRing ring;  // for the client; TLS keeps off it
  };
  TransactionRelay(net::Stream& client, const Parts& parts, Host& host);
  TransactionRelay(const TransactionRelay&) = delete;
  TransactionRelay& operator=(const TransactionRelay&) = delete;
  ~TransactionRelay();

  // As Relay's.
  void start(ByteView first, Completion done);
  void stop();
  void tick(Clock::time_point now);
  Clock::time_point last_activity() const noexcept { return last_activity_; }
  Clock::time_point client_stalled_since() const noexcept { return client_blocked_since_; }
  Bytes take_unsent() noexcept { return std::move(to_client_); }

  // Waits for a server since then.
  std::optional<Clock::time_point> waiting_since() const noexcept { return waiting_since_; }
  // The answer to server_wanted().
  void give(PooledServer& server, Clock::time_point now);
  // The client's request is answered with this error in place of a server: what belongs to it is dropped, up
  // to its Sync where it is of the extended protocol.
  void refuse(const protocol::ErrorFields& error);
  // Said to the client while it waits.
  void tell(const protocol::ErrorFields& notice);
  // The same as refuse(), by the client's own wish; nothing when it does not wait.
  void cancel_waiting();
  // The router talks to the server by itself since then. give_up_hand_over(): it does not answer.
  std::optional<Clock::time_point> handing_over_since() const noexcept {
    return hand_over_ ? std::optional(hand_over_since_) : std::nullopt;
  }
  void give_up_hand_over();
  // What the client was not to be told yet, it is told now.
  void open_gate();
  void heard_all();
  bool gated() const noexcept { return gated_ || ready_at_; }
  // A NotificationResponse, for between two transactions. notification_bytes(): of those that wait for that,
  // or for the client to read.
  void notify(ByteView message);
  // The same, of a channel whose LISTEN has begun: counts if that was committed before the notification was
  // sent, and so is kept only while that may be.
  void notify_early(const std::string& channel, ByteView message);
  std::size_t notification_bytes() const noexcept { return notifications_.size(); }
  // Null between transactions.
  PooledServer* server() const noexcept { return server_; }

 private:
  enum class Reading {
    No,         // nothing is read before what came has been dealt with
    Pending,    // a read into the buffer is pending
    GoingIdle,  // that read was cancelled to give the buffer back
    Idle,       // waits for readability without a buffer
    Over,       // the client sends no more, or must not
  };
  // The rest of a request that was answered in place of a server.
  enum class Skip {
    Nothing,
    Request,  // until its end is known by its first message
    Sync,     // up to and with the next Sync
  };

  Flow on_server_bytes(ByteView bytes) override;
  void on_server_end(std::error_code why) override;

  void read();
  void read_from_port();
  void on_read(std::error_code ec, std::size_t count);
  void wait_idle();
  void on_readable(std::error_code ec);
  void on_end_of_file();
  void end_if_all_used();
  void take(ByteView bytes, Clock::time_point now);
  // Both give how many bytes they took.
  std::size_t use(ByteView bytes, Clock::time_point now);
  std::size_t drop_unserved(ByteView bytes);
  std::size_t skip(ByteView bytes);
  bool begins_whole(ByteView bytes);
  bool may_read() const noexcept;
  void use_held(Clock::time_point now);
  void begin(PooledServer& server, Clock::time_point now);
  std::size_t forward(ByteView bytes, Clock::time_point now);
  void to_server(const pooling::Pieces& pieces, Clock::time_point now);
  ByteView contiguous(const pooling::Pieces& pieces);
  void begin_hand_over(HandOver::Purpose purpose, Clock::time_point now);
  void run_hand_over(Clock::time_point now);
  void keep_server();
  void lose_server_in_hand_over();
  void settle_doubt(Clock::time_point now);
  void release(Clock::time_point now);
  void send_to_server(ByteView bytes);
  void on_server_writable(std::error_code ec);
  void give_answers(ByteView answers);
  void send_to_client(ByteView bytes);
  void on_client_writable(std::error_code ec);
  void on_client_drained();
  void flush_notifications();
  void settle_early();
  Bytes take_notifications();
  template <class Keep>
  void drop_early(Keep keep);
  void go_on();
  void release_if_at_rest(Clock::time_point now);
  void client_left(RelayEnd end);
  void finish_if_left();
  bool server_waits_for_client() const noexcept;
  RelayEnd server_end() const noexcept {
    return malformed_ ? RelayEnd::ServerJudged : RelayEnd::ServerClosed;
  }
  void refuse_message(std::string what);
  Left how_left(RelayEnd end) const;
  void finish(RelayEnd end);
  void operation_done();

  net::Stream& client_;
  protocol::SessionTracker& tracker_;
  pooling::SessionTranslator& translator_;
  pooling::ClientSettings& settings_;
  TransactionPools& pools_;
  const RelayRing ring_;
  net::BufferPool& buffers_;
  SessionMeter& meter_;
  Host& host_;
  PooledServer* server_ = nullptr;
  std::optional<net::RingPort> port_;  // of the client
  unsigned reads_ = 0;                 // counted up to RelayRing::after_reads
  net::PooledBuffer buffer_;           // while a read is pending, or its bytes are looked at
  Bytes held_;                         // of the client, not yet looked at
  Bytes to_server_;                    // not taken by the server yet
  Bytes to_client_;                    // not taken by the client yet
  // A part of notifications_, of a channel that the client may not listen to yet.
  struct Early {
    std::string channel;
    std::size_t offset, bytes;
  };
  Bytes notifications_;                  // whole, for between two transactions
  std::vector<Early> early_;             // in their order
  protocol::HeaderWalker skipped_;       // the message that is being dropped
  std::unique_ptr<HandOver> hand_over_;  // while the router itself talks to the server
  Clock::time_point hand_over_since_{};
  Completion done_;
  Clock::time_point last_activity_{};
  Clock::time_point client_blocked_since_ = Clock::time_point::max();
  std::optional<Clock::time_point> waiting_since_;
  std::optional<Clock::time_point> deaf_since_;  // the server takes no more
  RelayEnd end_ = RelayEnd::Stopped;
  RelayEnd client_end_ = RelayEnd::ClientClosed;
  int pending_ = 0;
  int lost_in_hand_over_ = 0;  // servers, of this transaction
  Reading reading_ = Reading::No;
  Skip skip_ = Skip::Nothing;
  bool using_ = false;           // use() is at work
  bool incomplete_ = false;      // held_ is the beginning of a message that nothing is asked for yet
  bool watched_ = false;         // whether the client went while it waits is known: it sent more
  bool writing_client_ = false;  // waits until the client takes more
  bool writing_server_ = false;
  std::optional<std::size_t>
      ready_at_;              // to_client_ is held back: notifications go to here, before its ReadyForQuery
  bool gated_ = false;        // and until what is listened to is
  bool server_held_ = false;  // the server is not being read
  bool moved_ = false;        // since the last tick
  bool translator_holds_ = false;  // until the server has answered
  bool malformed_ = false;         // the server is to judge a message, and nothing more is read
  bool end_of_file_ = false;       // the client's last is in held_
  bool client_gone_ = false;
  bool server_told_ = false;  // that the client is gone
  bool server_gone_ = false;
  bool ending_ = false;
};

}  // namespace sluice::router
