#include "net/listener.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>

#include <asio/experimental/as_tuple.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/use_awaitable.hpp>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/error.h"
#include "net/net_error.h"
#include "net/socket_address.h"

namespace sluice::net {
namespace {

using EndPoint = asio::generic::stream_protocol::endpoint;

constexpr std::chrono::milliseconds kBackOffMin{10};
constexpr std::chrono::milliseconds kBackOffMax{1000};

const char* hint(int error) {
  switch (error) {
    case EADDRINUSE:
      return "another process listens there: stop it, or choose another address or port";
    case EADDRNOTAVAIL:
      return "this machine has no such address";
    case EACCES:
      return "ports below 1024 need the capability CAP_NET_BIND_SERVICE, socket files a writable directory";
    case ENOENT:
      return "the directory does not exist";
    case EMFILE:
      return "raise the limit of open files (ulimit -n, LimitNOFILE)";
    default:
      return nullptr;
  }
}

std::string describe(const std::string& where, std::error_code ec) {
  std::string text = "cannot listen on " + where + ": " + ec.message();
  const char* more = ec.category() == std::system_category() ? hint(ec.value()) : nullptr;
  return more != nullptr ? text + " (" + more + ")" : text;
}

std::string where(const EndPoint& end_point) {
  asio::ip::tcp::endpoint tcp;
  if (end_point.size() > tcp.capacity() || end_point.protocol().family() == AF_UNIX) return "a Unix socket";
  std::memcpy(tcp.data(), end_point.data(), end_point.size());
  tcp.resize(end_point.size());
  return to_string(SocketAddress{tcp.address().to_string(), tcp.port(), false});
}

struct Candidate {
  EndPoint end_point;
  bool optional = false;  // the IPv6 half of "*"
};

Result<std::vector<Candidate>> candidates(const ListenerSettings& settings, std::string& problem) {
  const auto bad = [&](const std::string& reason) -> Error {
    problem = "cannot listen on '" + settings.address + "': " + reason;
    return NetErrc::BadAddress;
  };
  if (settings.address == "*") {
    return std::vector<Candidate>{{asio::ip::tcp::endpoint(asio::ip::tcp::v4(), settings.port), false},
                                  {asio::ip::tcp::endpoint(asio::ip::tcp::v6(), settings.port), true}};
  }
  if (settings.is_unix()) {
    struct stat info {};
    if (settings.address[0] == '/' && ::stat(settings.address.c_str(), &info) == 0 && S_ISDIR(info.st_mode))
      return bad("it is a folder: name the socket file itself (psql looks for .s.PGSQL.PORT in a folder)");
    if (settings.address.size() >= sizeof(sockaddr_un::sun_path))
      return bad("the path is too long for a socket");
    if (settings.address == "@") return bad("no name");
    const std::string name = unix_name(settings.address);
    return std::vector<Candidate>{{asio::local::stream_protocol::endpoint(name), false}};
  }
  if (settings.address.empty() || settings.address.find('\0') != std::string::npos) return bad("no address");
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  const int status = ::getaddrinfo(settings.address.c_str(), nullptr, &hints, &found);
  if (status != 0) return bad(::gai_strerror(status));
  std::vector<Candidate> all;
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    if (one->ai_family != AF_INET && one->ai_family != AF_INET6) continue;
    asio::ip::tcp::endpoint end_point;
    end_point.resize(one->ai_addrlen);
    std::memcpy(end_point.data(), one->ai_addr, one->ai_addrlen);
    end_point.port(settings.port);
    all.push_back({end_point, false});
  }
  ::freeaddrinfo(found);
  if (all.empty()) return bad("the name has no address");
  return all;
}

// A socket file that nobody listens on any more is what a killed process left behind.
void remove_stale_socket_file(const std::string& path) {
  struct stat info {};
  if (path[0] != '/') return;
  if (::lstat(path.c_str(), &info) != 0 || !S_ISSOCK(info.st_mode)) return;
  const int probe = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (probe < 0) return;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size());  // its length is checked by candidates()
  const int result = ::connect(probe, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  if (result != 0 && errno == ECONNREFUSED) ::unlink(path.c_str());
  ::close(probe);
}

void apply_listening_options(int fd, const ListenerSettings& settings) {
  const int defer_seconds = settings.defer_accept ? 1 : 0;
  ::setsockopt(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, &defer_seconds, sizeof defer_seconds);
  apply_socket_options(fd, settings.options);
}

bool peer_gave_up(std::error_code ec) {
  // accept(2): errors already pending on the new connection; to be taken as if it had never come.
  switch (ec.category() == std::system_category() ? ec.value() : 0) {
    case ECONNABORTED:
    case EPROTO:
    case EPERM:
    case EINTR:
    case EAGAIN:
    case ENETDOWN:
    case ENOPROTOOPT:
    case EHOSTDOWN:
    case ENONET:
    case EHOSTUNREACH:
    case ENETUNREACH:
    case ETIMEDOUT:
      return true;
    default:
      return false;
  }
}

bool exhausted(std::error_code ec) {
  // No space is left on the device: the limit of watched descriptors, fs.epoll.max_user_watches.
  return ec == std::errc::too_many_files_open || ec == std::errc::too_many_files_open_in_system ||
         ec == std::errc::no_buffer_space || ec == std::errc::not_enough_memory ||
         ec == std::errc::no_space_on_device;
}

}  // namespace

Listener::Listener(Acceptor acceptor, std::string unix_path)
    : acceptor_(std::move(acceptor)), back_off_(acceptor_.get_executor()), unix_path_(std::move(unix_path)) {}

Result<std::vector<Listener>> Listener::open(asio::any_io_executor executor, const ListenerSettings& settings,
                                             std::string& problem) {
  Result<std::vector<Candidate>> all = candidates(settings, problem);
  if (!all) return all.error();
  std::vector<Listener> made;
  std::uint16_t port = settings.port;
  for (Candidate& candidate : *all) {
    // With "any free port" all addresses share the one that the first got.
    if (port != 0 && candidate.end_point.protocol().family() != AF_UNIX) {
      reinterpret_cast<sockaddr_in*>(candidate.end_point.data())->sin_port = htons(port);
    }
    if (settings.inherited != nullptr && settings.inherited->has(candidate.end_point)) {
      const std::size_t before = made.size();
      if (auto taken = take_inherited(executor, candidate.end_point, settings, made); !taken) {
        problem = describe(settings.address, taken.error().code);
        return taken.error();
      }
      if (made.size() > before || !settings.reuse_port) continue;
    }
    Result<Acceptor> acceptor = open_one(executor, candidate.end_point, settings);
    if (!acceptor) {
      const std::error_code ec = acceptor.error().code;
      const bool no_ipv6 =
          ec == std::errc::address_family_not_supported || ec == std::errc::address_not_available;
      if (candidate.optional && no_ipv6) continue;
      const bool is_unix = candidate.end_point.protocol().family() == AF_UNIX;
      problem = describe(is_unix ? settings.address : where(candidate.end_point), ec);
      return Error(ec);
    }
    made.push_back(Listener(*std::move(acceptor), settings.is_unix() ? settings.address : ""));
    if (port == 0) port = made.back().port();
  }
  return made;
}

Result<void> Listener::take_inherited(const asio::any_io_executor& executor, const EndPoint& end_point,
                                      const ListenerSettings& settings, std::vector<Listener>& made) {
  for (const int fd : settings.inherited->take(end_point, settings.share, settings.shares)) {
    Acceptor acceptor(executor);
    std::error_code ec;
    acceptor.assign(end_point.protocol(), fd, ec);
    if (ec) {
      ::close(fd);
      return from_io(ec, Side::Internal);
    }
    if (!settings.is_unix()) apply_listening_options(fd, settings);
    acceptor.listen(settings.backlog, ec);  // again, for a backlog that differs
    if (ec) return from_io(ec, Side::Internal);
    made.push_back(Listener(std::move(acceptor), settings.is_unix() ? settings.address : ""));
    made.back().owns_file_ = false;
  }
  return {};
}

bool Listener::reuses_port() const noexcept {
  int value = 0;
  socklen_t size = sizeof value;
  return ::getsockopt(descriptor(), SOL_SOCKET, SO_REUSEPORT, &value, &size) == 0 && value != 0;
}

int Listener::descriptor() const noexcept {
  // Asio's acceptors are not const, but asking for the descriptor changes nothing.
  return const_cast<Acceptor&>(acceptor_).native_handle();
}

Result<Listener> Listener::share(asio::any_io_executor executor) const {
  std::error_code ec;
  const EndPoint local = acceptor_.local_endpoint(ec);
  if (ec) return from_io(ec, Side::Internal);
  const int copy = ::fcntl(descriptor(), F_DUPFD_CLOEXEC, 0);
  if (copy < 0) return Error(std::error_code(errno, std::system_category()), Side::Internal);
  Acceptor acceptor(executor);
  acceptor.assign(local.protocol(), copy, ec);
  if (ec) {
    ::close(copy);
    return from_io(ec, Side::Internal);
  }
  Listener shared(std::move(acceptor), unix_path_);
  shared.owns_file_ = false;
  shared.shared_ = true;
  return shared;
}

Result<Listener::Acceptor> Listener::open_one(const asio::any_io_executor& executor,
                                              const EndPoint& end_point, const ListenerSettings& settings) {
  Acceptor acceptor(executor);
  std::error_code ec;
  acceptor.open(end_point.protocol(), ec);
  if (ec) return from_io(ec, Side::Internal);
  const int fd = acceptor.native_handle();
  const int one = 1;
  const int family = end_point.protocol().family();
  if (family == AF_UNIX) {
    remove_stale_socket_file(settings.address);
  } else {
    ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (settings.reuse_port) ::setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &one, sizeof one);
    if (family == AF_INET6) ::setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof one);
    apply_listening_options(fd, settings);
  }
  acceptor.bind(end_point, ec);
  if (!ec) acceptor.listen(settings.backlog, ec);
  if (ec) return from_io(ec, Side::Internal);
  return acceptor;
}

Listener& Listener::operator=(Listener&& other) noexcept {
  if (this == &other) return *this;
  close();
  acceptor_ = std::move(other.acceptor_);
  back_off_ = std::move(other.back_off_);
  unix_path_ = std::move(other.unix_path_);
  owns_file_ = other.owns_file_;
  shared_ = other.shared_;
  exhaustions_ = other.exhaustions_;
  closing_ = other.closing_;
  return *this;
}

asio::awaitable<Result<Socket>> Listener::accept() {
  constexpr auto kAwait = asio::experimental::as_tuple(asio::use_awaitable);
  std::chrono::milliseconds pause = kBackOffMin;
  while (!closing_) {
    auto [ec, socket] = co_await acceptor_.async_accept(kAwait);
    if (!ec) co_return Socket(std::move(socket));
    if (ec == asio::error::operation_aborted || closing_) break;
    const Error error = from_io(ec, Side::Internal);
    if (peer_gave_up(error.code)) continue;
    if (!exhausted(error.code)) co_return error;
    ++exhaustions_;
    back_off_.expires_after(pause);
    pause = std::min(2 * pause, kBackOffMax);
    const auto [waited] = co_await back_off_.async_wait(kAwait);
    if (waited) break;
  }
  co_return BaseErrc::Cancelled;
}

std::string Listener::address() const {
  std::error_code ec;
  const EndPoint local = acceptor_.local_endpoint(ec);
  if (ec) return "";
  return local.protocol().family() == AF_UNIX ? "unix:" + unix_path_ : where(local);
}

std::uint16_t Listener::port() const {
  std::error_code ec;
  const EndPoint local = acceptor_.local_endpoint(ec);
  if (ec || local.protocol().family() == AF_UNIX) return 0;
  // sin_port and sin6_port lie at the same place.
  return ntohs(reinterpret_cast<const sockaddr_in*>(local.data())->sin_port);
}

void Listener::cancel() noexcept {
  std::error_code ignored;
  acceptor_.cancel(ignored);
  back_off_.cancel();
}

void Listener::close() noexcept {
  if (!acceptor_.is_open()) return;
  closing_ = true;
  // Where another thread or process has the same socket, closing the descriptor alone would leave it watched
  // by our event loop, which would then be woken for an object that is gone: release() ends that first.
  std::error_code ec;
  const int fd = acceptor_.release(ec);
  if (ec) {
    acceptor_.close(ec);
  } else {
    ::close(fd);
  }
  back_off_.cancel();
  if (unix_path_.starts_with('/') && owns_file_) ::unlink(unix_path_.c_str());
}

}  // namespace sluice::net
