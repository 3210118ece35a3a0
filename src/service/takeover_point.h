#pragma once

#include <chrono>
#include <functional>
#include <string>
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
    std::function<Sockets()> sockets;
    // The process that serves from now on. Once, at most: the point is closed then, and its path the
    // successor's.
    std::function<void(pid_t)> taken;
  };

  TakeoverPoint(asio::any_io_executor executor, std::string path, Callbacks callbacks);
  TakeoverPoint(const TakeoverPoint&) = delete;
  TakeoverPoint& operator=(const TakeoverPoint&) = delete;

  // Takes the path's place from whoever had it. On an error `problem` names the path and the reason.
  Result<void> start(std::string& problem);
  // Removes the path, unless it is a successor's.
  asio::awaitable<void> stop();

 private:
  using Protocol = asio::generic::seq_packet_protocol;
  using Socket = asio::basic_seq_packet_socket<Protocol>;

  asio::awaitable<void> accept();
  asio::awaitable<bool> hand_over(Socket& socket);
  asio::awaitable<bool> send_sockets(Socket& socket);
  void close();

  asio::any_io_executor executor_;
  const std::string path_;
  const Callbacks callbacks_;
  asio::basic_socket_acceptor<Protocol> acceptor_;
  asio::steady_timer pause_;
  bool owns_path_ = false;
  net::TaskGroup tasks_;
};

}  // namespace sluice::service
