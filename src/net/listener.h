#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <asio/any_io_executor.hpp>
#include <asio/awaitable.hpp>
#include <asio/basic_socket_acceptor.hpp>
#include <asio/generic/stream_protocol.hpp>
#include <asio/steady_timer.hpp>

#include "base/result.h"
#include "net/inherited_sockets.h"
#include "net/socket_address.h"
#include "net/socket_options.h"
#include "net/stream.h"

namespace sluice::net {

struct ListenerSettings {
  std::string address{};   // numeric, a host name, "*" (all of IPv4 and of IPv6), or a Unix socket: a path
                           // that begins with '/', or '@' and an abstract name
  std::uint16_t port = 0;  // 0 = any free one (tests)
  int backlog = 4096;
  bool reuse_port =
      true;  // SO_REUSEPORT: each thread binds the same address, the kernel spreads the connections; TCP only
  bool defer_accept = false;  // TCP_DEFER_ACCEPT: a connection is accepted when its first bytes are there, or
                              // after a second without any
  SocketOptions options{};    // inherited by accepted connections
  // Sockets to take over instead of opening ones: of each address, share `share` of `shares`. An address of
  // which others have all of them is opened beside them, or not at all without reuse_port. May be null.
  InheritedSockets* inherited = nullptr;
  std::size_t share = 0, shares = 1;

  bool is_unix() const noexcept { return is_unix_address(address); }
};

// One listening socket of one thread.
class Listener {
 public:
  // One listener per address that `settings.address` stands for: at least one, but for what
  // `settings.inherited` says. IPv6 sockets take IPv6 alone
  // (IPV6_V6ONLY), so that "*" and "::" mean the same on every system. "*" without IPv6 in the kernel is IPv4
  // alone. Looks names up, and may wait for that: for start-up. On an error `problem` names the address, the
  // reason and a hint, and nothing stays open.
  static Result<std::vector<Listener>> open(asio::any_io_executor executor, const ListenerSettings& settings,
                                            std::string& problem);
  // A second acceptor on the same socket, for another thread: whichever comes first has a connection. The
  // only way to have more than one on a path, which no two sockets can share. A socket file is removed by the
  // listener that was opened, not by those that share it.
  Result<Listener> share(asio::any_io_executor executor) const;
  Listener(Listener&&) = default;
  Listener& operator=(Listener&& other) noexcept;

  // The next connection. Connections that died while they waited are passed over; when descriptors or memory
  // run out it backs off (10 ms, doubling to 1 s) and goes on. Error: BaseErrc::Cancelled after close() or
  // cancel(), else the listener is broken.
  asio::awaitable<Result<Socket>> accept();

  std::string address() const;  // "[::]:5432"
  std::uint16_t port() const;
  bool is_unix() const noexcept { return !unix_path_.empty(); }
  bool reuses_port() const noexcept;
  // Made by share().
  bool is_shared() const noexcept { return shared_; }
  // To give it to another process; stays this listener's own.
  int descriptor() const noexcept;
  // Whether close() removes the socket file. A listener that took its socket over has left it to the other
  // process until it is told.
  void own_file(bool own) noexcept { owns_file_ = own; }
  // How often descriptors or memory ran out; for a metric, and one log line when it moves.
  std::uint64_t exhaustions() const noexcept { return exhaustions_; }
  void cancel() noexcept;
  // Stops listening: the kernel refuses new connections at once. Removes the socket file of a Unix listener.
  void close() noexcept;
  ~Listener() { close(); }

 private:
  using Acceptor = asio::basic_socket_acceptor<asio::generic::stream_protocol>;
  Listener(Acceptor acceptor, std::string unix_path);
  static Result<void> take_inherited(const asio::any_io_executor& executor,
                                     const asio::generic::stream_protocol::endpoint& end_point,
                                     const ListenerSettings& settings, std::vector<Listener>& made);
  static Result<Acceptor> open_one(const asio::any_io_executor& executor,
                                   const asio::generic::stream_protocol::endpoint& end_point,
                                   const ListenerSettings& settings);

  Acceptor acceptor_;
  asio::steady_timer back_off_;
  std::string unix_path_;
  bool owns_file_ = true;
  bool shared_ = false;
  std::uint64_t exhaustions_ = 0;
  bool closing_ = false;
};

}  // namespace sluice::net
