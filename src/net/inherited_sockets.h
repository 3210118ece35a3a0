#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <asio/generic/stream_protocol.hpp>

namespace sluice::net {

// Listening sockets that another process has opened, by where they are bound. Owns the descriptors that
// nobody has taken; closing one does not end the socket while the other process has it too.
class InheritedSockets {
 public:
  using EndPoint = asio::generic::stream_protocol::endpoint;

  InheritedSockets() = default;
  InheritedSockets(InheritedSockets&&) noexcept = default;
  InheritedSockets& operator=(InheritedSockets&&) = delete;
  ~InheritedSockets();

  // Takes the descriptor over: true. One that is no listening stream socket is closed: false.
  bool add(int fd);
  bool has(const EndPoint& where) const;
  // Share `index` of `count` equal ones of the sockets that are bound there; the caller owns them.
  std::vector<int> take(const EndPoint& where, std::size_t index, std::size_t count);
  // Closes and forgets what nobody has taken, and removes the socket files: these addresses are no longer
  // served.
  void abandon_rest();
  // The socket files of those that it has or that were taken, each once.
  std::vector<std::string> files() const;
  std::size_t size() const noexcept { return sockets_.size(); }

 private:
  struct Entry {
    int fd = -1;  // -1 once taken
    EndPoint where;
  };
  std::vector<Entry> sockets_;
};

}  // namespace sluice::net
