#include "service/notifier.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"

namespace sluice::service {
namespace {

std::optional<std::uint64_t> number_in(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? std::nullopt : to_number<std::uint64_t>(text);
}

std::optional<std::chrono::microseconds> watchdog_in_environment() {
  constexpr std::uint64_t kDayUsec = 86'400'000'000;
  const auto period = number_in("WATCHDOG_USEC");
  if (!period || *period == 0) return std::nullopt;
  if (std::getenv("WATCHDOG_PID") != nullptr && number_in("WATCHDOG_PID") != std::uint64_t(::getpid()))
    return std::nullopt;
  return std::chrono::microseconds(std::min(*period, kDayUsec));
}

// One line of the datagram is one variable, and a name may hold anything.
std::string one_line(std::string_view text) {
  std::string line(text);
  if (line.size() > Notifier::kStatusBytesMax) {
    std::size_t end = Notifier::kStatusBytesMax;
    while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xC0) == 0x80)
      --end;
    line.resize(end);
  }
  std::replace_if(
      line.begin(), line.end(), [](unsigned char c) { return c < 0x20 || c == 0x7F; }, ' ');
  return line;
}

}  // namespace

Notifier Notifier::from_environment() {
  const char* const address = std::getenv("NOTIFY_SOCKET");
  if (address == nullptr) return {};
  Notifier notifier{std::string_view(address)};
  if (notifier.active()) notifier.watchdog_ = watchdog_in_environment();
  return notifier;
}

Notifier::Notifier(std::string_view address) : address_(address) {
  if (address.size() < 2 || (address[0] != '/' && address[0] != '@')) return;
  if (address.size() >= sizeof(sockaddr_un::sun_path)) return;
  if (address_[0] == '@') address_[0] = '\0';
  socket_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket_ < 0) return;
  const timeval timeout{kSendTimeout.count(), 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
}

Notifier::Notifier(Notifier&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)),
      address_(std::move(other.address_)),
      status_(std::move(other.status_)),
      watchdog_(std::exchange(other.watchdog_, std::nullopt)) {}

Notifier& Notifier::operator=(Notifier&& other) noexcept {
  if (this == &other) return *this;
  if (socket_ >= 0) ::close(socket_);
  socket_ = std::exchange(other.socket_, -1);
  address_ = std::move(other.address_);
  status_ = std::move(other.status_);
  watchdog_ = std::exchange(other.watchdog_, std::nullopt);
  return *this;
}

Notifier::~Notifier() {
  if (socket_ >= 0) ::close(socket_);
}

void Notifier::ready(std::string_view status) {
  status_ = one_line(status);
  send("READY=1\nSTATUS=" + status_, Waiting::Bounded);
}

void Notifier::reloading() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  const std::int64_t usec = std::int64_t{now.tv_sec} * 1'000'000 + now.tv_nsec / 1'000;
  send("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(usec), Waiting::Bounded);
}

void Notifier::stopping(std::string_view status) {
  status_ = one_line(status);
  send("STOPPING=1\nSTATUS=" + status_, Waiting::Bounded);
}

void Notifier::status(std::string_view status) {
  std::string line = one_line(status);
  if (line == status_) return;
  status_ = std::move(line);
  send("STATUS=" + status_, Waiting::None);
}

void Notifier::alive() {
  send("WATCHDOG=1", Waiting::None);
}

void Notifier::hand_over_to(pid_t process) {
  send("MAINPID=" + std::to_string(process), Waiting::Bounded);
  *this = Notifier();
}

void Notifier::send(const std::string& lines, Waiting waiting) {
  if (socket_ < 0) return;
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  std::memcpy(to.sun_path, address_.data(), address_.size());  // its length is checked by the constructor
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address_.size());
  const int flags = MSG_NOSIGNAL | (waiting == Waiting::None ? MSG_DONTWAIT : 0);
  (void)::sendto(socket_, lines.data(), lines.size(), flags, reinterpret_cast<const sockaddr*>(&to), size);
}

}  // namespace sluice::service
