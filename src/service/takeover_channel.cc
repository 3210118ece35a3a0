#include "service/takeover_channel.h"

#include <array>
#include <cerrno>
#include <cstring>

#include <sys/socket.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/error.h"

namespace sluice::service {
namespace {

// Room for one descriptor more than may come, so that one too many is seen.
constexpr std::size_t kControlBytes = CMSG_SPACE((kDescriptorsMax + 1) * sizeof(int));

Error last_error() {
  return Error(std::error_code(errno, std::generic_category()));
}

std::vector<int> descriptors_of(const msghdr& message) {
  std::vector<int> all;
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr;
       part = CMSG_NXTHDR(const_cast<msghdr*>(&message), part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    const std::size_t before = all.size();
    all.resize(before + count);
    std::memcpy(all.data() + before, CMSG_DATA(part), count * sizeof(int));
  }
  return all;
}

}  // namespace

Result<void> send_packet(int socket, std::string_view text, const std::vector<int>& descriptors) {
  SLUICE_ASSERT(text.size() <= kPacketBytesMax && descriptors.size() <= kDescriptorsMax);
  iovec bytes{const_cast<char*>(text.data()), text.size()};
  alignas(cmsghdr) std::array<std::byte, kControlBytes> control{};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  if (!descriptors.empty()) {
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(descriptors.size() * sizeof(int));
    cmsghdr* const part = CMSG_FIRSTHDR(&message);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(descriptors.size() * sizeof(int));
    std::memcpy(CMSG_DATA(part), descriptors.data(), descriptors.size() * sizeof(int));
  }
  while (::sendmsg(socket, &message, MSG_NOSIGNAL) < 0)
    if (errno != EINTR) return last_error();
  return {};
}

Result<Packet> receive_packet(int socket) {
  std::array<char, kPacketBytesMax> text{};
  iovec bytes{text.data(), text.size()};
  alignas(cmsghdr) std::array<std::byte, kControlBytes> control{};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ssize_t size = 0;
  while ((size = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC)) < 0)
    if (errno != EINTR) return last_error();
  Packet packet;
  packet.descriptors = descriptors_of(message);
  const bool cut = (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0;
  if (size == 0 || cut || packet.descriptors.size() > kDescriptorsMax) {
    close_all(packet.descriptors);
    if (size == 0 && !cut) return BaseErrc::Closed;
    return Error(std::make_error_code(std::errc::message_size));
  }
  packet.text.assign(text.data(), static_cast<std::size_t>(size));
  return packet;
}

bool same_user(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == ::geteuid();
}

void close_all(const std::vector<int>& descriptors) noexcept {
  for (const int fd : descriptors)
    ::close(fd);
}

}  // namespace sluice::service
