#include "service/predecessor.h"

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "net/socket_address.h"
#include "service/takeover_channel.h"

namespace sluice::service {
namespace {

// Messages with sockets: more than any configuration has.
constexpr std::size_t kPacketsMax = 1024;

}  // namespace

Predecessor::Predecessor(Predecessor&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)),
      clients_(std::move(other.clients_)),
      admin_(std::move(other.admin_)),
      cancel_paths_(std::move(other.cancel_paths_)) {}

Predecessor::~Predecessor() {
  if (socket_ >= 0) ::close(socket_);
}

Result<std::optional<Predecessor>> Predecessor::at(const std::string& path, std::string& problem) {
  const auto failed = [&](std::error_code code) -> Error {
    problem = "cannot take over from the process at " + path + ": " + code.message();
    return Error(code);
  };
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = net::unix_name(path);
  if (name.size() >= sizeof address.sun_path)
    return failed(std::make_error_code(std::errc::filename_too_long));
  std::memcpy(address.sun_path, name.data(), name.size());
  const int fd = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (fd < 0) return failed(std::error_code(errno, std::generic_category()));
  Predecessor predecessor(fd);
  const timeval timeout{kTimeout.count(), 0};
  ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
  ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), size) != 0) {
    if (errno == ENOENT || errno == ECONNREFUSED) return std::optional<Predecessor>();
    return failed(std::error_code(errno, std::generic_category()));
  }
  if (!same_user(fd)) {
    problem = "the process at " + path + " is another user's: nothing is taken over from it";
    return Error(std::make_error_code(std::errc::permission_denied));
  }
  if (const auto received = predecessor.receive(problem); !received) {
    if (!problem.empty()) return received.error();
    return failed(received.error().code);
  }
  return std::optional<Predecessor>(std::move(predecessor));
}

Result<void> Predecessor::receive(std::string& problem) {
  if (const auto asked = send_packet(socket_, kTakeoverRequest); !asked) return asked.error();
  for (std::size_t count = 0; count < kPacketsMax; ++count) {
    const Result<Packet> packet = receive_packet(socket_);
    if (!packet) return packet.error();
    if (packet->text == kEndOfSockets) {
      close_all(packet->descriptors);
      return {};
    }
    if (packet->text.starts_with(kCancelPath)) {
      close_all(packet->descriptors);
      cancel_paths_.push_back(packet->text.substr(kCancelPath.size()));
      continue;
    }
    if (packet->text.starts_with(kRefused)) {
      close_all(packet->descriptors);
      problem = "the running process is not taken over from: " + packet->text.substr(kRefused.size());
      return Error(std::make_error_code(std::errc::operation_not_permitted));
    }
    const bool clients = packet->text == kClientSockets;
    if (!clients && packet->text != kAdminSockets) {
      close_all(packet->descriptors);
      break;
    }
    for (const int fd : packet->descriptors)
      (void)(clients ? clients_ : admin_).add(fd);
  }
  problem = "what listens there says something else than a router that is taken over from";
  return Error(std::make_error_code(std::errc::protocol_error));
}

Result<void> Predecessor::serving() {
  if (const auto told = send_packet(socket_, kServing); !told) return told.error();
  const Result<Packet> answer = receive_packet(socket_);
  if (!answer) return answer.error();
  close_all(answer->descriptors);
  if (answer->text != kReleased) return Error(std::make_error_code(std::errc::protocol_error));
  clients_.abandon_rest();
  admin_.abandon_rest();
  return {};
}

}  // namespace sluice::service
