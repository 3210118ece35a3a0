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

bool nobody_listens(std::error_code code) {
  return code == std::errc::no_such_file_or_directory || code == std::errc::connection_refused;
}

Result<int> connect_to(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = net::unix_name(path);
  if (name.size() >= sizeof address.sun_path)
    return Error(std::make_error_code(std::errc::filename_too_long));
  std::memcpy(address.sun_path, name.data(), name.size());
  const int fd = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (fd < 0) return Error(std::error_code(errno, std::generic_category()));
  const timeval timeout{Predecessor::kTimeout.count(), 0};
  ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
  ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  while (::connect(fd, reinterpret_cast<const sockaddr*>(&address), size) != 0) {
    const int error = errno;
    if (error == EINTR) continue;  // a Unix socket is connected at once or not at all
    ::close(fd);
    return Error(std::error_code(error, std::generic_category()));
  }
  return fd;
}

}  // namespace

Predecessor::Predecessor(Predecessor&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)),
      clients_(std::move(other.clients_)),
      admin_(std::move(other.admin_)),
      cancel_paths_(std::move(other.cancel_paths_)) {}

Predecessor::~Predecessor() {
  if (socket_ >= 0) ::close(socket_);
}

Result<std::optional<Predecessor>> Predecessor::at(const std::string& path, std::string_view request,
                                                   std::string& problem) {
  const auto failed = [&](std::error_code code) -> Error {
    problem = "cannot take over from the process at " + path + ": " + code.message();
    return Error(code);
  };
  const Result<int> connected = connect_to(path);
  if (!connected) {
    const std::error_code why = connected.error().code;
    if (nobody_listens(why)) return std::optional<Predecessor>();
    return failed(why);
  }
  Predecessor predecessor(*connected);
  if (!same_user(*connected)) {
    problem = "the process at " + path + " is another user's: nothing is taken over from it";
    return Error(std::make_error_code(std::errc::permission_denied));
  }
  if (const auto received = predecessor.receive(request, problem); !received) {
    if (!problem.empty()) return received.error();
    return failed(received.error().code);
  }
  return std::optional<Predecessor>(std::move(predecessor));
}

bool Predecessor::waits_at(const std::string& path) {
  const Result<int> connected = connect_to(path);
  if (connected) ::close(*connected);
  return connected || !nobody_listens(connected.error().code);
}

Result<void> Predecessor::receive(std::string_view request, std::string& problem) {
  if (const auto asked = send_packet(socket_, request); !asked) return asked.error();
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
  problem = "what listens there says something else than a process like this one";
  return Error(std::make_error_code(std::errc::protocol_error));
}

// A packet that is still unread when its receiver closes makes a reset of the end: by that we know whether
// the predecessor has read ours.
Predecessor::Told Predecessor::serving() {
  const auto not_heard = [](std::error_code code) {
    return code == std::errc::broken_pipe || code == std::errc::connection_reset;
  };
  if (const auto told = send_packet(socket_, kServing); !told) return {Answer::CalledOff, told.error().code};
  const Result<Packet> answer = receive_packet(socket_);
  if (!answer) {
    const std::error_code code = answer.error().code;
    return {not_heard(code) ? Answer::CalledOff : Answer::None, code};
  }
  close_all(answer->descriptors);
  if (answer->text != kReleased) return {Answer::None, std::make_error_code(std::errc::protocol_error)};
  return {Answer::Released};
}

std::vector<std::string> Predecessor::files() const {
  std::vector<std::string> all = clients_.files();
  for (std::string& file : admin_.files())
    all.push_back(std::move(file));
  return all;
}

void Predecessor::abandon_rest() {
  clients_.abandon_rest();
  admin_.abandon_rest();
}

}  // namespace sluice::service
