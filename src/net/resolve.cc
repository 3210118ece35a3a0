#include "net/resolve.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>
#include <system_error>
#include <thread>

#include <asio/error.hpp>
#include <asio/experimental/as_tuple.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>
#include <fcntl.h>
#include <netdb.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/error.h"
#include "net/deadline.h"
#include "net/net_error.h"

namespace sluice::net {
namespace {

std::atomic<int> lookups{0};

// Shared by the asking coroutine and the looking thread; whichever ends last frees it. The thread never
// touches the event loop, which may be gone by then: it only writes to an eventfd that it owns a share of.
struct Lookup {
  explicit Lookup(std::string name)
      : host(std::move(name)), done_fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  Lookup(const Lookup&) = delete;
  Lookup& operator=(const Lookup&) = delete;
  ~Lookup() {
    if (found != nullptr) ::freeaddrinfo(found);
    if (done_fd >= 0) ::close(done_fd);
  }

  const std::string host;
  const int done_fd;
  addrinfo* found = nullptr;
  int status = 0;
  std::atomic<bool> done{false};
};

void look_up(const std::shared_ptr<Lookup>& lookup) noexcept {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_ADDRCONFIG;
  lookup->status = ::getaddrinfo(lookup->host.c_str(), nullptr, &hints, &lookup->found);
  lookups.fetch_sub(1);
  lookup->done.store(true, std::memory_order_release);
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(lookup->done_fd, &one, sizeof one);
}

// Takes no signal: those are for the threads that wait for them, and at the end of a process for nobody.
std::error_code start_look_up(const std::shared_ptr<Lookup>& lookup) {
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);  // a thread begins with the mask of the one that starts it
  std::error_code failed;
  try {
    std::thread([lookup] { look_up(lookup); }).detach();
  } catch (const std::system_error& e) {
    failed = e.code();
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return failed;
}

std::error_code resolver_error(int status) {
  switch (status) {
    case EAI_AGAIN:
      return asio::error::host_not_found_try_again;
    case EAI_SYSTEM:
    case EAI_MEMORY:
    case EAI_FAIL:
      return asio::error::no_recovery;
    default:
      return asio::error::host_not_found;
  }
}

std::vector<asio::ip::tcp::endpoint> end_points(const addrinfo* found, std::uint16_t port) {
  std::vector<asio::ip::tcp::endpoint> all;
  for (; found != nullptr; found = found->ai_next) {
    if (found->ai_family != AF_INET && found->ai_family != AF_INET6) continue;
    asio::ip::tcp::endpoint end_point;
    if (found->ai_addrlen > end_point.capacity()) continue;
    end_point.resize(found->ai_addrlen);
    std::memcpy(end_point.data(), found->ai_addr, found->ai_addrlen);
    end_point.port(port);
    all.push_back(end_point);
  }
  return all;
}

}  // namespace

asio::awaitable<Result<std::vector<asio::ip::tcp::endpoint>>> resolve(std::string host, std::uint16_t port,
                                                                      std::chrono::milliseconds timeout) {
  std::error_code ec;
  const asio::ip::address numeric = asio::ip::make_address(host, ec);
  if (!ec) co_return std::vector<asio::ip::tcp::endpoint>{{numeric, port}};
  if (host.empty() || host.find('\0') != std::string::npos) co_return unreachable(NetErrc::BadAddress);

  const auto executor = co_await asio::this_coro::executor;
  const auto lookup = std::make_shared<Lookup>(std::move(host));
  const int waiting_fd = lookup->done_fd < 0 ? -1 : ::fcntl(lookup->done_fd, F_DUPFD_CLOEXEC, 0);
  if (waiting_fd < 0) co_return unreachable({errno, std::system_category()});
  asio::posix::stream_descriptor done(executor, waiting_fd);
  if (lookups.fetch_add(1) >= kLookupsMax) {
    lookups.fetch_sub(1);
    co_return unreachable(NetErrc::TooManyLookups);
  }
  if (const std::error_code failed = start_look_up(lookup)) {
    lookups.fetch_sub(1);
    co_return unreachable(failed);
  }

  const Deadline deadline(executor, timeout, [&done] {
    std::error_code ignored;
    done.cancel(ignored);
  });
  const auto [waited] = co_await done.async_wait(asio::posix::descriptor_base::wait_read,
                                                 asio::experimental::as_tuple(asio::use_awaitable));
  if (!lookup->done.load(std::memory_order_acquire)) {
    if (deadline.expired()) co_return unreachable(BaseErrc::Timeout);
    co_return unreachable(waited == asio::error::operation_aborted ? make_error_code(BaseErrc::Cancelled)
                                                                   : waited);
  }
  if (lookup->status != 0) co_return unreachable(resolver_error(lookup->status));
  std::vector<asio::ip::tcp::endpoint> all = end_points(lookup->found, port);
  if (all.empty()) co_return unreachable(asio::error::host_not_found);
  co_return all;
}

}  // namespace sluice::net
