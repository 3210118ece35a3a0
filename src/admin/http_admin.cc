#include "admin/http_admin.h"

#include <array>
#include <memory>
#include <utility>

#include <asio/experimental/as_tuple.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include "net/deadline.h"
#include "net/stream.h"

namespace sluice::admin {
namespace {

constexpr std::size_t kReadBytes = 4096;
constexpr std::size_t kDiscardBytesMax = 64 * 1024;
constexpr std::chrono::milliseconds kDiscardTimeout{1000};

using asio::use_awaitable;
using asio::experimental::as_tuple;

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

}  // namespace

HttpAdmin::HttpAdmin(asio::any_io_executor executor, Settings settings, RouterView& view, MetricsText metrics)
    : executor_(std::move(executor)),
      settings_(std::move(settings)),
      view_(view),
      metrics_(std::move(metrics)),
      tasks_(executor_) {}

Result<void> HttpAdmin::start(std::string& problem) {
  net::ListenerSettings listen;
  listen.address = settings_.address;
  listen.port = settings_.port;
  listen.backlog = 128;
  listen.reuse_port = false;  // a second process on the same port is a mistake
  auto opened = net::Listener::open(executor_, listen, problem);
  if (!opened) return opened.error();
  listeners_ = std::move(*opened);
  for (net::Listener& listener : listeners_)
    tasks_.spawn("http accept", accept_from(listener));
  return {};
}

std::uint16_t HttpAdmin::port() const {
  return listeners_.empty() ? std::uint16_t{0} : listeners_.front().port();
}

asio::awaitable<void> HttpAdmin::stop() {
  for (net::Listener& listener : listeners_)
    listener.close();
  co_await tasks_.stop();
}

asio::awaitable<void> HttpAdmin::accept_from(net::Listener& listener) {
  co_await asio::this_coro::throw_if_cancelled(false);
  while (true) {
    auto socket = co_await listener.accept();
    if (!socket) co_return;
    if (connections_ < settings_.connections_max) {
      tasks_.spawn("http connection", serve(std::move(*socket)));
      continue;
    }
    net::Stream stream(std::move(*socket));
    stream.try_write(
        as_bytes(serialize(error_response(503), HttpMethod::Get, Connection::Close, view_.now())));
  }
}

asio::awaitable<void> HttpAdmin::serve(net::Socket socket) {
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
  co_await serve_requests(stream, deadline);
}

asio::awaitable<void> HttpAdmin::serve_requests(net::Stream& stream, net::Deadline& deadline) {
  std::string input;
  std::array<std::byte, kReadBytes> room{};
  for (bool first = true;; first = false) {
    HttpRequestParser parser(settings_.header_bytes_max);
    deadline.reset(first || !input.empty() ? settings_.header_timeout : settings_.keep_alive_timeout);
    auto state = parser.feed(input);
    bool begun = first || !input.empty();
    while (state == HttpRequestParser::State::NeedMore) {
      const auto read = co_await stream.read_some(room);
      if (!read || *read == 0 || deadline.expired() || tasks_.stopping()) co_return;
      if (!std::exchange(begun, true)) deadline.reset(settings_.header_timeout);
      input.append(as_text(ByteView(room).first(*read)));
      state = parser.feed(input);
    }
    const bool refused = state == HttpRequestParser::State::Refused;
    deadline.reset(settings_.gather_timeout + settings_.write_timeout);
    // No `?:` here: GCC 12 copies the temporaries of a co_await inside one byte by byte.
    HttpResponse response;
    if (refused) {
      response = error_response(parser.refusal_status());
    } else {
      response = co_await answer(parser.request());
    }
    if (deadline.expired() || tasks_.stopping()) co_return;
    deadline.reset(settings_.write_timeout);
    const bool keep = !refused && parser.request().keep_alive;
    const std::string bytes = serialize(response, refused ? HttpMethod::Get : parser.request().method,
                                        keep ? Connection::KeepAlive : Connection::Close, view_.now());
    const auto written = co_await stream.write_all(as_bytes(bytes));
    if (!written || deadline.expired() || tasks_.stopping()) co_return;
    if (!keep) co_return co_await discard_rest(stream, deadline);
  }
}

asio::awaitable<HttpResponse> HttpAdmin::answer(const HttpRequest& request) {
  if (request.method == HttpMethod::Other) co_return error_response(405);
  const Route route = find_route(request.path);
  if (const auto* view = std::get_if<const View*>(&route)) co_return co_await answer_view(**view);
  switch (std::get<Page>(route)) {
    case Page::Index:
      co_return index_response();
    case Page::Metrics: {
      HttpResponse response;
      response.content_type = "text/plain; version=0.0.4; charset=utf-8";
      response.body = metrics_();
      co_return response;
    }
    case Page::Health: {
      HttpResponse response;
      response.body = "ok\n";
      co_return response;
    }
    case Page::Ready: {
      const auto snapshot = co_await gather(Part::State);
      co_return snapshot ? ready_response(snapshot->state) : error_response(504);
    }
    case Page::Unknown:
      break;
  }
  co_return error_response(404);
}

asio::awaitable<HttpResponse> HttpAdmin::answer_view(const View& view) {
  std::optional<Snapshot> snapshot = Snapshot{};
  if (view.part) snapshot = co_await gather(*view.part);
  if (!snapshot) co_return error_response(504);
  co_return view_response(view, view.rows(*snapshot, {view_.now(), view_.version()}));
}

// The answer may come after this coroutine gave up, or after the event loop is gone: it must find nothing
// then.
asio::awaitable<std::optional<Snapshot>> HttpAdmin::gather(Part part) {
  struct Waiting {
    asio::steady_timer answered;
    std::optional<Snapshot> snapshot;
  };
  const auto waiting = std::make_shared<Waiting>(Waiting{asio::steady_timer(executor_), std::nullopt});
  waiting->answered.expires_after(settings_.gather_timeout);
  view_.gather(part, [weak = std::weak_ptr<Waiting>(waiting)](Snapshot snapshot) {
    const auto alive = weak.lock();
    if (!alive) return;
    alive->snapshot = std::move(snapshot);
    alive->answered.cancel();
  });
  if (!waiting->snapshot) co_await waiting->answered.async_wait(as_tuple(use_awaitable));
  co_return std::move(waiting->snapshot);
}

}  // namespace sluice::admin
