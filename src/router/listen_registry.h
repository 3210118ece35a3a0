#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "pooling/session_translator.h"
#include "protocol/error_response.h"
#include "router/server_login.h"

namespace sluice::router {

class Worker;

// Where a session listens: a database of the primary, read in one encoding. Equal keys, one connection.
struct ListenPlace {
  std::string key;
  std::string database;             // its name on the server
  std::string encoding;             // client_encoding; "" leaves it to the server
  std::vector<ServerRequest> ways;  // to log in, best first
};

// A session that listens.
class NotificationSink {
 public:
  // A whole NotificationResponse.
  virtual void notified(ByteView message) = 0;
  // The same, of a channel that it has begun to listen to and may listen to before long.
  virtual void notified_early(const std::string& channel, ByteView message) = 0;
  // All that it asked for is listened to.
  virtual void listening() = 0;
  // Given to notified() is what it is to hear of all that was committed before ListenRegistry::hear_all().
  virtual void heard_all() = 0;
  // What it asked for cannot be had.
  virtual void cannot_listen(const protocol::ErrorFields& why) = 0;

 protected:
  ~NotificationSink() = default;
};

// The sessions of one thread that listen, and to what. Asks the Listeners of the home thread for channels
// that nobody here has asked for yet, and hands what comes to those who wait for it. Shape:  kChannelsMax
// channels a session. Thread: one; the calls by Listeners are posted to it.
class ListenRegistry {
 public:
  static constexpr std::size_t kChannelsMax = 10'000;

  explicit ListenRegistry(Worker& worker) : worker_(worker) {}
  ListenRegistry(const ListenRegistry&) = delete;
  ListenRegistry& operator=(const ListenRegistry&) = delete;

  enum class Effect { Now, Later, TooMany };
  // LISTEN, UNLISTEN or UNLISTEN * of a session. Later: NotificationSink::listening() or cannot_listen()
  // follows. `place` counts where the session listens to nothing yet.
  Effect change(NotificationSink& sink, const ListenPlace& place, const pooling::ListenChange& change);
  // A LISTEN within a transaction that may go on: the channel is listened to already. Later, and `place`: as
  // for change(), which is to follow; settle() when the transaction is over forgets what it has not
  // committed.
  Effect begin(NotificationSink& sink, const ListenPlace& place, const std::string& channel);
  void settle(NotificationSink& sink);
  // It is not told of those that it has begun and that are not listened to yet.
  void wait_no_more(NotificationSink& sink);
  bool listens(NotificationSink& sink, std::string_view channel) const noexcept;
  // NotificationSink::heard_all() follows, soon also where nothing is to be heard for want of a connection.
  // False: it listens to nothing.
  bool hear_all(NotificationSink& sink);
  // It listens to nothing any more, and is told of nothing.
  void leave(NotificationSink& sink);
  std::size_t channel_count(NotificationSink& sink) const noexcept;
  // It has asked for channels that are not listened to yet.
  bool waits(NotificationSink& sink) const noexcept;

  // By Listeners.
  void granted(const std::string& key, const std::string& channel, std::uint64_t ticket);
  void refused(const std::string& key, const std::string& channel, std::uint64_t ticket,
               const protocol::ErrorFields& why);
  // The place's connection is lost: what is asked for from now on waits until another one listens to it.
  void lost(const std::string& key);
  void heard_all(std::uint64_t ticket);
  void deliver(const std::string& key, const std::string& channel, const Bytes& message);

 private:
  struct Channel {
    std::uint64_t ticket = 0;
    bool granted = false;
    std::vector<NotificationSink*> sinks{};
    std::vector<NotificationSink*> early{};    // who have begun to listen to it
    std::vector<NotificationSink*> waiting{};  // of all those, who are to be told that it is granted
  };
  struct Sink {
    std::string key;
    std::set<std::string, std::less<>> channels{};
    std::set<std::string, std::less<>> early{};  // others, begun
    std::size_t waiting = 0;                     // for so many channels of both
    bool idle() const noexcept { return channels.empty() && early.empty(); }
  };
  using Channels = std::map<std::string, Channel, std::less<>>;

  Channel* find(const std::string& key, std::string_view channel);
  void wait(NotificationSink& sink, Sink& state, const ListenPlace& place, const std::string& name,
            Channel& channel);
  void unlisten(NotificationSink& sink, Sink& state, const std::string& channel);
  void unlisten_all(NotificationSink& sink, Sink& state);
  void drop_early(NotificationSink& sink, Sink& state);
  void let_go(NotificationSink& sink, Sink& state, const std::string& channel);

  Worker& worker_;
  std::map<std::string, Channels, std::less<>> places_;
  std::map<NotificationSink*, Sink> sinks_;
  std::map<std::uint64_t, NotificationSink*> hearing_;  // by the ticket of its question
  std::uint64_t next_ticket_ = 1;
};

}  // namespace sluice::router
