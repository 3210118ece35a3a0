#include "demo/http_get.h"

#include <array>
#include <memory>

#include <arpa/inet.h>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

namespace sluice::demo {
namespace {

namespace http = boost::beast::http;

constexpr std::uint64_t kBodyBytesMax = std::uint64_t{8} << 20;

class Socket {
 public:
  explicit Socket(std::chrono::milliseconds timeout) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const auto ms = timeout.count();
    const timeval time{static_cast<time_t>(ms / 1000), static_cast<suseconds_t>(ms % 1000 * 1000)};
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time));
    ::setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof(time));
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket() {
    if (fd_ >= 0) ::close(fd_);
  }
  bool connect(std::uint16_t port) const {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    return fd_ >= 0 && ::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  }
  bool send(const std::string& text) const {
    return ::send(fd_, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
  }
  ssize_t receive(char* data, std::size_t size) const { return ::recv(fd_, data, size, 0); }

 private:
  int fd_;
};

}  // namespace

std::optional<HttpAnswer> http_get(std::uint16_t port, const std::string& path,
                                   std::chrono::milliseconds timeout) {
  const Socket socket(timeout);
  if (!socket.connect(port) ||
      !socket.send("GET " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"))
    return std::nullopt;
  http::response_parser<http::string_body> parser;
  parser.body_limit(kBodyBytesMax);
  parser.eager(true);
  boost::system::error_code error;
  std::string pending;
  std::array<char, 16384> piece{};
  while (!parser.is_done()) {
    const ssize_t count = socket.receive(piece.data(), piece.size());
    if (count < 0) return std::nullopt;
    if (count == 0) {
      if (!parser.got_some()) return std::nullopt;  // closed without a word; put_eof() does not take that
      parser.put_eof(error);
      break;
    }
    pending.append(piece.data(), static_cast<std::size_t>(count));
    while (!pending.empty() && !parser.is_done()) {
      const std::size_t taken = parser.put(boost::asio::buffer(pending), error);
      pending.erase(0, taken);
      if (error == http::error::need_more) break;
      if (error) return std::nullopt;
    }
    error = {};
  }
  if (error || !parser.is_done()) return std::nullopt;
  return HttpAnswer{static_cast<int>(parser.get().result_int()), std::move(parser.get().body())};
}

}  // namespace sluice::demo
