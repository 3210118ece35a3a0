#include "http/page_server.h"

#include <array>
#include <system_error>
#include <utility>

#include <asio/ip/address.hpp>
#include <asio/this_coro.hpp>

#include "http/event_feed.h"
#include "net/deadline.h"
#include "net/socket_address.h"
#include "net/stream.h"

namespace sluice::http {
namespace {

constexpr std::size_t kReadBytes = 4096;
constexpr std::size_t kDiscardBytesMax = 64 * 1024;
constexpr std::chrono::milliseconds kDiscardTimeout{1000};

// Reads away what a refused request still sends: closing over unread bytes makes the kernel send a reset, and
// that can overtake the answer. Gives up soon.
asio::awaitable<void> discard_rest(net::Stream& stream, net::Deadline& deadline) {
  deadline.reset(kDiscardTimeout);
  stream.shutdown_send();
  std::array<std::byte, kReadBytes> room{};
  for (std::size_t total = 0; total < kDiscardBytesMax && !deadline.expired();) {
    const auto read = co_await stream.read_some(room);
    if (!read || *read == 0) co_return;
    total += *read;
  }
}

// Who cannot be told from loopback is taken for it: so the check is on.
ListensAt place_of(const net::Listener& listener) {
  const net::SocketAddress bound = net::local_address(listener.descriptor());
  if (bound.is_unix) return ListensAt::UnixSocket;
  std::error_code ec;
  const asio::ip::address address = asio::ip::make_address(bound.address, ec);
  return ec || address.is_loopback() ? ListensAt::Loopback : ListensAt::Elsewhere;
}

WallTime wall_clock() {
  return std::chrono::system_clock::now();
}

}  // namespace

PageServer::PageServer(asio::any_io_executor executor, Settings settings, Handler handler,
                       ErrorPage error_page)
    : executor_(std::move(executor)),
      settings_(std::move(settings)),
      handler_(std::move(handler)),
      error_page_(std::move(error_page)),
      tasks_(executor_) {}

Result<void> PageServer::start(std::string& problem) {
  net::ListenerSettings listen;
  listen.address = settings_.address;
  listen.port = settings_.port;
  listen.backlog = 128;
  listen.reuse_port = false;  // a second process on the same port is a mistake
  listen.inherited = settings_.inherited;
  auto opened = net::Listener::open(executor_, listen, problem);
  if (!opened) return opened.error();
  listeners_ = std::move(*opened);
  for (net::Listener& listener : listeners_)
    tasks_.spawn("http accept", accept_from(listener));
  return {};
}

std::vector<int> PageServer::descriptors() const {
  std::vector<int> all;
  for (const net::Listener& listener : listeners_)
    all.push_back(listener.descriptor());
  return all;
}

void PageServer::own_files(bool own) noexcept {
  for (net::Listener& listener : listeners_)
    listener.own_file(own);
}

std::uint16_t PageServer::port() const {
  return listeners_.empty() ? std::uint16_t{0} : listeners_.front().port();
}

asio::awaitable<void> PageServer::stop() {
  for (net::Listener& listener : listeners_)
    listener.close();
  co_await tasks_.stop();
}

asio::awaitable<void> PageServer::accept_from(net::Listener& listener) {
  co_await asio::this_coro::throw_if_cancelled(false);
  const ListensAt at = place_of(listener);
  while (true) {
    auto socket = co_await listener.accept();
    if (!socket) co_return;
    if (connections_ < settings_.connections_max) {
      tasks_.spawn("http connection", serve(std::move(*socket), at));
      continue;
    }
    net::Stream stream(std::move(*socket));
    stream.try_write(as_bytes(serialize(error_page_(503, {}), Body::Whole, Connection::Close, wall_clock())));
  }
}

asio::awaitable<void> PageServer::serve(net::Socket socket, ListensAt at) {
  co_await asio::this_coro::throw_if_cancelled(false);
  struct Count {
    explicit Count(std::size_t& counted) : count(counted) { ++count; }
    ~Count() { --count; }
    Count(const Count&) = delete;
    Count& operator=(const Count&) = delete;
    std::size_t& count;
  } const counted(connections_);
  net::Stream stream(std::move(socket));
  net::Deadline deadline(executor_, settings_.header_timeout, [&stream] { stream.close(); });
  co_await serve_requests(stream, deadline, at);
}

bool PageServer::is_handled(PageRequest::Method method) const noexcept {
  switch (method) {
    case PageRequest::Method::Get:
    case PageRequest::Method::Head:
      return true;
    case PageRequest::Method::Post:
      return settings_.posts == Settings::Posts::Handled;
    case PageRequest::Method::Other:
      break;
  }
  return false;
}

asio::awaitable<Page> PageServer::page_for(PageRequest request, ListensAt at) {
  if (settings_.own_host && !settings_.own_host(request.host, at)) co_return error_page_(421, request);
  if (!is_handled(request.method)) co_return error_page_(405, request);
  co_return co_await handler_(std::move(request));
}

// A viewer that does not take an event in time is let go, and so is one that has gone, at the latest when a
// heartbeat meets with no answer.
asio::awaitable<void> PageServer::serve_events(net::Stream& stream, net::Deadline& deadline, Page page) {
  const std::string head = serialize(page, Body::HeadersAlone, Connection::Close, wall_clock());
  const auto begun = co_await stream.write_all(as_bytes(head));
  if (!begun) co_return;
  while (!deadline.expired() && !tasks_.stopping()) {
    deadline.reset(settings_.write_timeout + EventFeed::kHeartbeat);
    const EventFeed::Text text = co_await page.events->next();
    if (!text || tasks_.stopping()) co_return;
    deadline.reset(settings_.write_timeout);
    const auto written = co_await stream.write_all(as_bytes(*text));
    if (!written) co_return;
  }
}

asio::awaitable<void> PageServer::serve_requests(net::Stream& stream, net::Deadline& deadline, ListensAt at) {
  std::string input;
  std::array<std::byte, kReadBytes> room{};
  for (bool first = true;; first = false) {
    PageRequestParser parser(settings_.header_bytes_max);
    deadline.reset(first || !input.empty() ? settings_.header_timeout : settings_.keep_alive_timeout);
    auto state = parser.feed(input);
    bool begun = first || !input.empty();
    while (state == PageRequestParser::State::NeedMore) {
      const auto read = co_await stream.read_some(room);
      if (!read || *read == 0 || deadline.expired() || tasks_.stopping()) co_return;
      if (!std::exchange(begun, true)) deadline.reset(settings_.header_timeout);
      input.append(as_text(ByteView(room).first(*read)));
      state = parser.feed(input);
    }
    const bool refused = state == PageRequestParser::State::Refused;
    const PageRequest& request = parser.request();
    deadline.reset(settings_.answer_timeout + settings_.write_timeout);
    // No `?:` here: GCC 12 copies the temporaries of a co_await inside one byte by byte.
    Page page;
    if (refused) {
      page = error_page_(parser.refusal_status(), {});
    } else {
      PageRequest asked = request;
      if (request.method == PageRequest::Method::Post)
        asked.peer = net::to_string(net::peer_address(stream.native_handle()));
      page = co_await page_for(std::move(asked), at);
    }
    if (deadline.expired() || tasks_.stopping()) co_return;
    deadline.reset(settings_.write_timeout);
    if (page.events) co_return co_await serve_events(stream, deadline, std::move(page));
    const bool keep = !refused && request.keep_alive;
    const Body body =
        !refused && request.method == PageRequest::Method::Head ? Body::HeadersAlone : Body::Whole;
    const std::string bytes =
        serialize(page, body, keep ? Connection::KeepAlive : Connection::Close, wall_clock());
    const auto written = co_await stream.write_all(as_bytes(bytes));
    if (!written || deadline.expired() || tasks_.stopping()) co_return;
    if (!keep) co_return co_await discard_rest(stream, deadline);
  }
}

}  // namespace sluice::http
