#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <asio/any_io_executor.hpp>
#include <asio/awaitable.hpp>
#include <asio/basic_seq_packet_socket.hpp>
#include <asio/basic_socket_acceptor.hpp>
#include <asio/generic/seq_packet_protocol.hpp>
#include <asio/steady_timer.hpp>
#include <sys/types.h>

#include "base/result.h"
#include "net/task_group.h"

namespace sluice::net {
class Deadline;
}

namespace sluice::service {

// Where a successor finds this process: a Unix socket, mode 0600, for processes of the same user alone. One
// successor at a time; one that falls silent for kTimeout is given up, and so is one that ends before it
// serves.
// Thread: that of the executor, which runs the callbacks. stop() is awaited before destruction.
class TakeoverPoint {
 public:
  // From the request to "serving": the time a process takes to start.
  static constexpr std::chrono::seconds kTimeout{60};

  struct Sockets {
    std::vector<int> clients, admin;  // listening; they stay this process's own as well
    std::vector<std::string> cancel_paths{};
    std::string refusal{};  // why there are none, in a few words; empty: there are
  };
  struct Callbacks {
    // From now on socket files stay when their sockets are closed: they may be the successor's.
    std::function<Sockets()> sockets;
    // After sockets(), unless it refused: that successor is none, which is logged. Everything is as before.
    std::function<void()> called_off;
    // After sockets(): the process that serves from now on. Once, at most: the point is closed then, and its
    // path the successor's. Also within stop(), when that comes too late.
    std::function<void(pid_t)> taken;
  };

  // For successors that ask for `request`.
  TakeoverPoint(asio::any_io_executor executor, std::string path, std::string_view request,
                Callbacks callbacks);
  TakeoverPoint(const TakeoverPoint&) = delete;
  TakeoverPoint& operator=(const TakeoverPoint&) = delete;

  // Where a process that waits at `path` takes cancel requests once it has been taken over from.
  static std::string cancel_path(const std::string& path);

  // Takes the path's place from whoever had it; the paths beside it have to fit, too. On an error `problem`
  // names the path and the reason.
  Result<void> start(std::string& problem);
  // Removes the path, unless another process has it by now. A successor that is being served is not called
  // off: it finds out by itself, and keeps the socket files.
  asio::awaitable<void> stop();

 private:
  using Protocol = asio::generic::seq_packet_protocol;
  using Socket = asio::basic_seq_packet_socket<Protocol>;

  asio::awaitable<void> accept();
  enum class HandOver { Refused, CalledOff, Taken };
  asio::awaitable<HandOver> hand_over(Socket& socket);
  asio::awaitable<bool> send_sockets(Socket& socket, Sockets sockets, const net::Deadline& deadline);
  void close();

  asio::any_io_executor executor_;
  const std::string path_;
  const std::string request_;
  const Callbacks callbacks_;
  asio::basic_socket_acceptor<Protocol> acceptor_;
  asio::steady_timer pause_;
  std::optional<std::pair<dev_t, ino_t>> own_file_;  // at path_, while it is ours to remove
  net::TaskGroup tasks_;
};

}  // namespace sluice::service
