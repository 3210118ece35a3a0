#include "admin/http_admin.h"

#include <memory>
#include <utility>

#include <asio/experimental/as_tuple.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>

namespace sluice::admin {
namespace {

using asio::use_awaitable;
using asio::experimental::as_tuple;

http::PageServer::Settings server_settings(const HttpAdmin::Settings& settings) {
  http::PageServer::Settings server;
  server.address = settings.address;
  server.port = settings.port;
  server.inherited = settings.inherited;
  server.connections_max = settings.connections_max;
  server.header_bytes_max = settings.header_bytes_max;
  server.header_timeout = settings.header_timeout;
  server.keep_alive_timeout = settings.keep_alive_timeout;
  server.answer_timeout = settings.gather_timeout;
  server.write_timeout = settings.write_timeout;
  return server;
}

}  // namespace

HttpAdmin::HttpAdmin(asio::any_io_executor executor, Settings settings, RouterView& view, MetricsText metrics)
    : executor_(std::move(executor)),
      settings_(std::move(settings)),
      view_(view),
      metrics_(std::move(metrics)),
      server_(
          executor_, server_settings(settings_),
          [this](http::PageRequest request) { return answer(std::move(request)); },
          [](int status) { return error_response(status); }) {}

asio::awaitable<HttpResponse> HttpAdmin::answer(http::PageRequest request) {
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
    case Page::Profile: {
      auto snapshot = co_await gather(Part::Profile);
      if (!snapshot) co_return error_response(504);
      HttpResponse response;
      response.content_type = "application/json";
      response.body = std::move(snapshot->profile) + '\n';
      co_return response;
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
