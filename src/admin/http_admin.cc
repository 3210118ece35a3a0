#include "admin/http_admin.h"

#include <functional>
#include <memory>
#include <utility>

#include <asio/experimental/as_tuple.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>

#include "admin/dashboard_json.h"
#include "admin/http_access.h"
#include "web/asset_page.h"

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
  server.posts = http::PageServer::Settings::Posts::Handled;
  server.own_host = settings.own_host;
  return server;
}

}  // namespace

HttpAdmin::HttpAdmin(asio::any_io_executor executor, Settings settings, RouterView& view, MetricsText metrics,
                     Token token)
    : executor_(std::move(executor)),
      settings_(std::move(settings)),
      view_(view),
      metrics_(std::move(metrics)),
      token_(std::move(token)),
      feed_(
          executor_, settings_.event_streams_max, view_, [this](Part part) { return gather(part); },
          [this] { return !token_().empty(); }),
      server_(
          executor_, server_settings(settings_),
          [this](http::PageRequest request) { return answer(std::move(request)); },
          [this](int status, const http::PageRequest& request) { return refuse(status, request); }) {}

Result<void> HttpAdmin::start(std::string& problem) {
  auto started = server_.start(problem);
  if (started) feed_.start();
  return started;
}

asio::awaitable<void> HttpAdmin::stop() {
  co_await feed_.stop();
  co_await server_.stop();
}

// The answer may come after this coroutine gave up, or after the event loop is gone: it must find nothing
// then.
template <class Answer>
asio::awaitable<std::optional<Answer>> HttpAdmin::ask(
    std::function<void(std::function<void(Answer)>)> begin) {
  struct Waiting {
    asio::steady_timer answered;
    std::optional<Answer> answer;
  };
  const auto waiting = std::make_shared<Waiting>(Waiting{asio::steady_timer(executor_), std::nullopt});
  waiting->answered.expires_after(settings_.gather_timeout);
  begin([weak = std::weak_ptr<Waiting>(waiting)](Answer answer) {
    const auto alive = weak.lock();
    if (!alive) return;
    alive->answer = std::move(answer);
    alive->answered.cancel();
  });
  if (!waiting->answer) co_await waiting->answered.async_wait(as_tuple(use_awaitable));
  co_return std::move(waiting->answer);
}

asio::awaitable<HttpResponse> HttpAdmin::answer(http::PageRequest request) {
  if (request.method == http::PageRequest::Method::Post) co_return co_await carry_out(std::move(request));
  const Route route = find_route(request.path);
  if (const auto* view = std::get_if<const View*>(&route)) co_return co_await answer_view(**view);
  co_return co_await answer_page(std::get<Page>(route), std::move(request));
}

asio::awaitable<HttpResponse> HttpAdmin::answer_page(Page page, http::PageRequest request) {
  switch (page) {
    case Page::Index:
      if (has_dashboard() && web::wants_html(request.accept))
        co_return dashboard_response("/dashboard", request.accept_encoding);
      co_return index_response();
    case Page::Dashboard:
      co_return dashboard_response(request.path, request.accept_encoding);
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
      co_return snapshot ? json_response(std::move(snapshot->profile)) : error_response(504);
    }
    case Page::Overview: {
      auto document = co_await feed_.overview();
      co_return document ? json_response(*std::move(document)) : error_response(504);
    }
    case Page::RttMatrix: {
      const auto snapshot = co_await gather(Part::Rtt);
      co_return snapshot ? json_response(rtt_matrix_json(snapshot->rtt)) : error_response(504);
    }
    case Page::History:
      co_return json_response(feed_.history());
    case Page::Events:
      co_return answer_events(request);
    case Page::Unknown:
      break;
  }
  co_return error_response(404);
}

// Streams are few: a page from elsewhere must not take them.
HttpResponse HttpAdmin::answer_events(const http::PageRequest& request) {
  if (!is_of_own_page(request)) return access_response(Access::Foreign);
  if (!feed_.has_room())
    return error_response(503, "Too many streams of events, or the router is shutting down.");
  HttpResponse response;
  response.content_type = "text/event-stream";
  response.endless = true;
  if (request.method == http::PageRequest::Method::Get) response.events = feed_.admit();
  return response;
}

HttpResponse HttpAdmin::refuse(int status, const http::PageRequest& request) {
  const auto command = find_command(request.path);
  if (status == 421 && command && request.method == http::PageRequest::Method::Post)
    view_.command_refused(command_name(command->kind), CommandRefusal::Host, request.peer);
  return refusal_response(status, request);
}

asio::awaitable<HttpResponse> HttpAdmin::carry_out(http::PageRequest request) {
  const auto command = find_command(request.path);
  if (!command) co_return refusal_response(405, request);
  const Access access = judge(request, token_());
  if (const auto why = refusal_of(access)) {
    view_.command_refused(command_name(command->kind), *why, request.peer);
    co_return access_response(access);
  }
  std::function<void(RouterView::CommandDone)> begin = [this, &command](RouterView::CommandDone done) {
    switch (command->kind) {
      case CommandRequest::Kind::Reload:
        return view_.reload(std::move(done));
      case CommandRequest::Kind::Drain:
        return view_.set_draining(command->replica, Draining::On, std::move(done));
      case CommandRequest::Kind::Undrain:
        return view_.set_draining(command->replica, Draining::Off, std::move(done));
    }
  };
  auto result = co_await ask<CommandResult>(std::move(begin));
  co_return result ? command_response(*result) : refusal_response(504, request);
}

asio::awaitable<HttpResponse> HttpAdmin::answer_view(const View& view) {
  std::optional<Snapshot> snapshot = Snapshot{};
  if (view.part) snapshot = co_await gather(*view.part);
  if (!snapshot) co_return error_response(504);
  const ViewContext context{view_.now(), view_.version()};
  co_return json_response(views_json({&view}, *snapshot, context));
}

asio::awaitable<std::optional<Snapshot>> HttpAdmin::gather(Part part) {
  std::function<void(RouterView::SnapshotDone)> begin = [this, part](RouterView::SnapshotDone done) {
    view_.gather(part, std::move(done));
  };
  return ask<Snapshot>(std::move(begin));
}

}  // namespace sluice::admin
