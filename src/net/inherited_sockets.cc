#include "net/inherited_sockets.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <utility>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace sluice::net {
namespace {

int option_of(int fd, int name) {
  int value = -1;
  socklen_t size = sizeof value;
  return ::getsockopt(fd, SOL_SOCKET, name, &value, &size) == 0 ? value : -1;
}

// Empty for one that has none: TCP, or an abstract name.
std::string file_of(const InheritedSockets::EndPoint& where) {
  if (where.protocol().family() != AF_UNIX || where.size() <= offsetof(sockaddr_un, sun_path)) return {};
  const auto* const path = reinterpret_cast<const sockaddr_un*>(where.data())->sun_path;
  return std::string(path, ::strnlen(path, where.size() - offsetof(sockaddr_un, sun_path)));
}

}  // namespace

InheritedSockets::~InheritedSockets() {
  for (const Entry& entry : sockets_)
    if (entry.fd >= 0) ::close(entry.fd);
}

bool InheritedSockets::add(int fd) {
  EndPoint where;
  socklen_t size = static_cast<socklen_t>(where.capacity());
  const bool usable = option_of(fd, SO_ACCEPTCONN) == 1 && option_of(fd, SO_TYPE) == SOCK_STREAM &&
                      ::getsockname(fd, where.data(), &size) == 0 && size <= where.capacity();
  if (!usable) {
    ::close(fd);
    return false;
  }
  where.resize(size);
  sockets_.push_back({fd, where});
  return true;
}

// A path is the same with and without the zero byte behind it that the kernel adds.
static bool same_place(const InheritedSockets::EndPoint& a, const InheritedSockets::EndPoint& b) {
  if (a == b) return true;
  const std::string file = file_of(a);
  return !file.empty() && file == file_of(b);
}

bool InheritedSockets::has(const EndPoint& where) const {
  return std::any_of(sockets_.begin(), sockets_.end(),
                     [&](const Entry& entry) { return same_place(entry.where, where); });
}

std::vector<int> InheritedSockets::take(const EndPoint& where, std::size_t index, std::size_t count) {
  std::vector<int> taken;
  std::size_t position = 0;
  for (Entry& entry : sockets_) {
    if (!same_place(entry.where, where)) continue;
    if (position++ % count != index || entry.fd < 0) continue;
    taken.push_back(entry.fd);
    entry.fd = -1;
  }
  return taken;
}

void InheritedSockets::abandon_rest() {
  for (Entry& entry : sockets_) {
    if (entry.fd < 0) continue;
    if (const std::string file = file_of(entry.where); !file.empty()) ::unlink(file.c_str());
    ::close(entry.fd);
  }
  std::erase_if(sockets_, [](const Entry& entry) { return entry.fd >= 0; });
}

std::vector<std::string> InheritedSockets::files() const {
  std::vector<std::string> all;
  for (const Entry& entry : sockets_)
    if (std::string file = file_of(entry.where);
        !file.empty() && std::find(all.begin(), all.end(), file) == all.end())
      all.push_back(std::move(file));
  return all;
}

}  // namespace sluice::net
