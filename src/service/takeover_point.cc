#include "service/takeover_point.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <utility>

#include <asio/experimental/as_tuple.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "net/deadline.h"
#include "service/takeover_channel.h"
#include "telemetry/log.h"

namespace sluice::service {
namespace {

constexpr auto kAwait = asio::experimental::as_tuple(asio::use_awaitable);

pid_t process_behind(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 ? peer.pid : 0;
}

std::optional<std::pair<dev_t, ino_t>> file_at(const std::string& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) return std::nullopt;
  return std::pair(info.st_dev, info.st_ino);
}

}  // namespace

TakeoverPoint::TakeoverPoint(asio::any_io_executor executor, std::string path, std::string_view request,
                             Callbacks callbacks)
    : executor_(std::move(executor)),
      path_(std::move(path)),
      request_(request),
      callbacks_(std::move(callbacks)),
      acceptor_(executor_),
      pause_(executor_),
      tasks_(executor_) {}

std::string TakeoverPoint::cancel_path(const std::string& path) {
  return path + ".cancel." + std::to_string(::getpid());
}

// Made beside its place and renamed into it: there is no moment at which nobody is found there, and none at
// which others may connect.
Result<void> TakeoverPoint::start(std::string& problem) {
  const std::string made_at = path_ + "." + std::to_string(::getpid());
  const auto failed = [&](std::error_code code) -> Error {
    problem = "cannot wait for a successor at " + path_ + ": " + code.message();
    close();
    return Error(code);
  };
  if (std::max(made_at.size(), cancel_path(path_).size()) >= sizeof(sockaddr_un::sun_path))
    return failed(std::make_error_code(std::errc::filename_too_long));
  std::error_code ec;
  acceptor_.open(Protocol(AF_UNIX, 0), ec);
  if (ec) return failed(ec);
  const asio::local::stream_protocol::endpoint place(made_at);
  ::unlink(made_at.c_str());
  acceptor_.bind(Protocol::endpoint(place.data(), place.size()), ec);
  // Before anybody can connect.
  if (!ec && ::chmod(made_at.c_str(), S_IRUSR | S_IWUSR) != 0)
    ec = std::error_code(errno, std::generic_category());
  if (!ec) acceptor_.listen(4, ec);
  const auto file = file_at(made_at);
  if (!ec && ::rename(made_at.c_str(), path_.c_str()) != 0)
    ec = std::error_code(errno, std::generic_category());
  if (ec) {
    ::unlink(made_at.c_str());
    return failed(ec);
  }
  own_file_ = file;
  tasks_.spawn("takeover", accept());
  return {};
}

void TakeoverPoint::close() {
  std::error_code ignored;
  acceptor_.close(ignored);
  // One that serves without having been told so, as we were on our way out, may have renamed its own there.
  const auto file = std::exchange(own_file_, std::nullopt);
  if (file && file == file_at(path_)) ::unlink(path_.c_str());
}

asio::awaitable<void> TakeoverPoint::stop() {
  close();
  co_await tasks_.stop();
}

asio::awaitable<void> TakeoverPoint::accept() {
  co_await asio::this_coro::throw_if_cancelled(false);
  for (;;) {
    auto [ec, accepted] = co_await acceptor_.async_accept(kAwait);
    if (ec == asio::error::operation_aborted || !acceptor_.is_open()) co_return;
    if (ec) {  // no descriptors left, most likely
      pause_.expires_after(std::chrono::seconds(1));
      const auto [interrupted] = co_await pause_.async_wait(kAwait);
      if (interrupted) co_return;
      continue;
    }
    Socket socket = std::move(accepted);
    if (!same_user(socket.native_handle())) continue;
    const HandOver outcome = co_await hand_over(socket);
    if (outcome == HandOver::CalledOff && acceptor_.is_open()) {
      callbacks_.called_off();
      log::warning("a successor has not come to serve", {{"path", path_}});
    }
    if (outcome != HandOver::Taken) continue;
    own_file_.reset();
    std::error_code ignored;
    acceptor_.close(ignored);
    callbacks_.taken(process_behind(socket.native_handle()));
    (void)send_packet(socket.native_handle(), kReleased);
    co_return;
  }
}

// What has arrived counts, also when the wait for it has been given up in the same turn: the other side goes
// by whether we have read it.
asio::awaitable<TakeoverPoint::HandOver> TakeoverPoint::hand_over(Socket& socket) {
  std::error_code ec;
  socket.non_blocking(true, ec);
  if (ec) co_return HandOver::Refused;
  const net::Deadline deadline(executor_, kTimeout, [&socket] {
    std::error_code ignored;
    socket.cancel(ignored);
  });
  (void)co_await socket.async_wait(Socket::wait_read, kAwait);
  const Result<Packet> request = receive_packet(socket.native_handle());
  if (!request) co_return HandOver::Refused;
  close_all(request->descriptors);
  if (request->text != request_ || !acceptor_.is_open()) co_return HandOver::Refused;
  Sockets sockets = callbacks_.sockets();
  if (!sockets.refusal.empty()) {
    (void)send_packet(socket.native_handle(), std::string(kRefused) + sockets.refusal);
    co_return HandOver::Refused;
  }
  const bool sent = co_await send_sockets(socket, std::move(sockets), deadline);
  if (!sent) co_return HandOver::CalledOff;
  if (!deadline.expired()) (void)co_await socket.async_wait(Socket::wait_read, kAwait);
  const Result<Packet> serving = receive_packet(socket.native_handle());
  if (!serving) co_return HandOver::CalledOff;
  close_all(serving->descriptors);
  co_return serving->text == kServing ? HandOver::Taken : HandOver::CalledOff;
}

asio::awaitable<bool> TakeoverPoint::send_sockets(Socket& socket, Sockets sockets,
                                                  const net::Deadline& deadline) {
  std::vector<std::pair<std::string, std::vector<int>>> packets;
  const auto add = [&](std::string_view kind, const std::vector<int>& all) {
    for (std::size_t at = 0; at < all.size(); at += kDescriptorsMax) {
      const auto begin = all.begin() + static_cast<std::ptrdiff_t>(at);
      const auto count = static_cast<std::ptrdiff_t>(std::min(kDescriptorsMax, all.size() - at));
      packets.emplace_back(kind, std::vector<int>(begin, begin + count));
    }
  };
  add(kClientSockets, sockets.clients);
  add(kAdminSockets, sockets.admin);
  for (const std::string& path : sockets.cancel_paths)
    packets.emplace_back(std::string(kCancelPath) + path, std::vector<int>());
  packets.emplace_back(kEndOfSockets, std::vector<int>());
  for (const auto& [text, descriptors] : packets) {
    for (;;) {
      const Result<void> sent = send_packet(socket.native_handle(), text, descriptors);
      if (sent) break;
      if (sent.error().code != std::errc::resource_unavailable_try_again) co_return false;
      const auto [waited] = co_await socket.async_wait(Socket::wait_write, kAwait);
      if (waited || deadline.expired() || !acceptor_.is_open()) co_return false;
    }
  }
  co_return true;
}

}  // namespace sluice::service
