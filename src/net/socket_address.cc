#include "net/socket_address.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

namespace sluice::net {
namespace {

std::string numeric(int family, const void* address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  return inet_ntop(family, address, text.data(), text.size()) != nullptr ? text.data() : "";
}

SocketAddress describe(const sockaddr_storage& storage, socklen_t size) {
  if (storage.ss_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, &storage, sizeof v4);
    return {numeric(AF_INET, &v4.sin_addr), ntohs(v4.sin_port), false};
  }
  if (storage.ss_family == AF_INET6) {
    sockaddr_in6 v6{};
    std::memcpy(&v6, &storage, sizeof v6);
    const std::uint16_t port = ntohs(v6.sin6_port);
    if (IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr))
      return {numeric(AF_INET, &v6.sin6_addr.s6_addr[12]), port, false};
    return {numeric(AF_INET6, &v6.sin6_addr), port, false};
  }
  if (storage.ss_family != AF_UNIX) return {};
  sockaddr_un local{};
  std::memcpy(&local, &storage, std::min<std::size_t>(size, sizeof local));
  const std::size_t room =
      size > offsetof(sockaddr_un, sun_path) ? size - offsetof(sockaddr_un, sun_path) : 0;
  if (room > 1 && local.sun_path[0] == '\0')
    return {"@" + std::string(local.sun_path + 1, std::min(room, sizeof local.sun_path) - 1), 0, true};
  return {std::string(local.sun_path, strnlen(local.sun_path, std::min(room, sizeof local.sun_path))), 0,
          true};
}

template <class Query>
SocketAddress ask(int fd, Query query) {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  if (query(fd, reinterpret_cast<sockaddr*>(&storage), &size) != 0) return {};
  return describe(storage, size);
}

}  // namespace

std::string unix_name(std::string_view text) {
  std::string name(text);
  if (name.starts_with('@')) name[0] = '\0';
  return name;
}

SocketAddress peer_address(int fd) {
  return ask(fd, ::getpeername);
}

SocketAddress local_address(int fd) {
  return ask(fd, ::getsockname);
}

std::string to_string(const SocketAddress& address) {
  if (address.is_unix) return address.address.empty() ? "unix" : "unix:" + address.address;
  const bool v6 = address.address.find(':') != std::string::npos;
  return (v6 ? "[" + address.address + "]:" : address.address + ":") + std::to_string(address.port);
}

}  // namespace sluice::net
