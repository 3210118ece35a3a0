#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <asio/any_io_executor.hpp>
#include <asio/awaitable.hpp>

#include "admin/dashboard_feed.h"
#include "admin/http_routes.h"
#include "admin/router_view.h"
#include "base/result.h"
#include "http/page_server.h"

namespace sluice::admin {

// The HTTP side of admin: GET and HEAD of
//   /          the dashboard for browsers, a plain index of what is here for others
//   /metrics   text for Prometheus
//   /healthz   200 while the process serves
//   /readyz    200 while new sessions are taken, else 503 with the reason
//   /v1/profile  what profile::to_json makes of the router's profile
//   /v1/VIEW   rows of the console's views as JSON, for instance /v1/replicas, /v1/pools, /v1/decisions
//   /v1/overview, /v1/rtt_matrix, /v1/history, /v1/events   what the dashboard shows, the last one as it
//   changes
// Anyone who reaches the address may read all this: it listens on loopback unless told otherwise. POST
// carries out a few commands for those who have the token.
//
// Shape:  at most connections_max connections (further ones get 503 and are closed), one request at a time on
// each,
//         request line and headers at most header_bytes_max (431), no request body (413), keep-alive.
// Errors: start() gives what the kernel says about the address; afterwards a connection that fails just ends.
// Thread: that of the executor, which must be one thread's, and which is the thread of the RouterView.
// Lifetime: started once, and then stop() is awaited before destruction.
class HttpAdmin {
 public:
  struct Settings {
    std::string address = "127.0.0.1";
    std::uint16_t port = 9127;  // 0: the kernel chooses
    net::InheritedSockets* inherited = nullptr;
    std::size_t connections_max = 64;
    std::size_t event_streams_max = 32;  // of these
    std::size_t header_bytes_max = 8192;
    std::chrono::milliseconds header_timeout{
        10'000};  // from the first byte, or from accept, to the end of the head
    std::chrono::milliseconds keep_alive_timeout{60'000};  // between two requests
    std::chrono::milliseconds gather_timeout{10'000};      // for the router's answer (504)
    std::chrono::milliseconds write_timeout{30'000};       // to take a whole response
    // Whether a request with that Host is meant for us; others get 421. Null: all are.
    std::function<bool(std::string_view host, http::ListensAt at)> own_host = nullptr;
  };
  using MetricsText = std::function<std::string()>;
  // What a command has to bring; empty: there are no commands. Asked each time, as a reload may change it.
  using Token = std::function<std::string()>;

  HttpAdmin(
      asio::any_io_executor executor, Settings settings, RouterView& view, MetricsText metrics,
      Token token = [] { return std::string(); });
  HttpAdmin(const HttpAdmin&) = delete;
  HttpAdmin& operator=(const HttpAdmin&) = delete;

  // Binds, listens, accepts. `problem` says for people what was wrong with the address.
  [[nodiscard]] Result<void> start(std::string& problem);
  std::uint16_t port() const { return server_.port(); }  // after start()
  std::vector<int> descriptors() const { return server_.descriptors(); }
  void own_files(bool own) noexcept { server_.own_files(own); }
  // Closes the listeners, ends the connections, returns when all are gone.
  asio::awaitable<void> stop();
  std::size_t connection_count() const noexcept { return server_.connection_count(); }

 private:
  asio::awaitable<HttpResponse> answer(http::PageRequest request);
  // What the router answers, or nothing when it does not in time.
  template <class Answer>
  asio::awaitable<std::optional<Answer>> ask(std::function<void(std::function<void(Answer)>)> begin);
  asio::awaitable<std::optional<Snapshot>> gather(Part part);
  asio::awaitable<HttpResponse> answer_page(Page page, http::PageRequest request);
  asio::awaitable<HttpResponse> answer_view(const View& view);
  asio::awaitable<HttpResponse> carry_out(http::PageRequest request);
  HttpResponse answer_events(const http::PageRequest& request);
  // A request that the server has no answer for.
  HttpResponse refuse(int status, const http::PageRequest& request);

  asio::any_io_executor executor_;
  Settings settings_;
  RouterView& view_;
  MetricsText metrics_;
  Token token_;
  DashboardFeed feed_;
  http::PageServer server_;
};

}  // namespace sluice::admin
