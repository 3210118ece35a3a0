#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <asio/awaitable.hpp>
#include <asio/steady_timer.hpp>

#include "pooling/listen_channels.h"
#include "protocol/error_response.h"
#include "protocol/frame_decoder.h"
#include "router/ids.h"
#include "router/listen_registry.h"
#include "router/server_connection.h"
#include "router/snapshot.h"

namespace sluice::router {

class Worker;

// The connections that listen, one for each database (and encoding) of the primary in which some session in
// transaction mode listens. Lives on the first thread; what threads ask and are told is posted.
// A connection that is lost, or whose server is no primary any more, is opened again and listens to the same
// channels; what was notified meanwhile is lost, as PostgreSQL keeps nothing for who is not there.
class Listeners {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Listeners(Worker& worker) : worker_(worker) {}
  Listeners(const Listeners&) = delete;
  Listeners& operator=(const Listeners&) = delete;

  // `ticket` comes back with the answer: ListenRegistry::granted() or refused(). Once for each thread, place
  // and channel until unlisten().
  void listen(unsigned thread, ListenPlace place, const std::string& channel, std::uint64_t ticket);
  void unlisten(unsigned thread, const std::string& key, const std::string& channel);
  // ListenRegistry::heard_all() follows what was notified up to now: a question to the server and its answer
  // behind it, one for all who ask meanwhile. At once where there is no connection.
  void hear_all(unsigned thread, const std::string& key, std::uint64_t ticket);

  // The server is gone, or another one is the primary.
  void drop(ServerId server);
  void replace_snapshot(const Snapshot& from, const Snapshot& to);
  // About twice a second.
  void tick(Clock::time_point now);
  void close_all();

  struct Info {
    std::string database;
    std::string encoding;
    std::string user;
    std::int32_t process_id;  // of the server's backend; 0: it is not connected
    std::size_t channels;
    std::uint64_t notifications;
    std::uint64_t reconnects;
  };
  std::vector<Info> info() const;

 private:
  struct Question {
    unsigned thread;
    std::uint64_t ticket;
  };
  struct Place {
    Place(asio::any_io_executor executor, ListenPlace where) : at(std::move(where)), pause(executor) {}
    ListenPlace at;
    pooling::ListenChannels channels{};
    std::optional<ServerConnection> connection{};
    Clock::time_point asked_at{};                  // when the Query that runs was sent
    std::optional<protocol::ErrorFields> error{};  // its answer so far
    std::vector<Question> asked{};                 // by hear_all()
    std::vector<Question> answered{};              // by the ReadyForQuery of the Query that runs
    bool asking = false;                           // and that is for them alone
    Clock::time_point needed_at{};                 // when a channel was last wanted
    asio::steady_timer pause;                      // before the next attempt to connect
    std::uint64_t notifications = 0;               // received
    std::uint64_t reconnects = 0;
  };

  asio::awaitable<void> serve(Place& place);
  asio::awaitable<bool> connect(Place& place);
  asio::awaitable<void> receive(Place& place);
  bool take(Place& place, protocol::FrameDecoder& decoder);
  bool on_ready(Place& place);
  void on_notification(Place& place, const protocol::Frame& frame);
  void send(Place& place);
  void tell_granted(Place& place);
  void refuse(Place& place, std::vector<pooling::ListenChannels::Granted> all,
              const protocol::ErrorFields& why);
  void tell_lost(const Place& place);
  void tell_heard(std::vector<Question> all);
  template <class Tell>
  void post(unsigned thread, Tell tell);

  Worker& worker_;
  bool closing_ = false;
  std::map<std::string, std::unique_ptr<Place>> places_;
};

}  // namespace sluice::router
