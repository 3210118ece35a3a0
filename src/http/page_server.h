#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <asio/any_io_executor.hpp>
#include <asio/awaitable.hpp>

#include "base/result.h"
#include "http/host_check.h"
#include "http/page.h"
#include "net/listener.h"
#include "net/task_group.h"

namespace sluice::net {
class Deadline;
}

namespace sluice::http {

// Serves small pages that are asked for with GET or HEAD, answers without an end, and where wanted commands
// (POST): the admin ports.
// Shape:  at most connections_max connections (further ones get 503 and are closed), one request at a time on
// each,
//         request line and headers at most header_bytes_max (431), no request body (413), keep-alive.
// Errors: start() gives what the kernel says about the address; afterwards a connection that fails just ends.
// Thread: that of the executor, which must be one thread's; the handler is called there.
// Lifetime: started once, and then stop() is awaited before destruction.
class PageServer {
 public:
  struct Settings {
    std::string address = "127.0.0.1";
    std::uint16_t port = 0;                      // 0: the kernel chooses
    net::InheritedSockets* inherited = nullptr;  // as for net::Listener; looked at by start() alone
    std::size_t connections_max = 64;
    std::size_t header_bytes_max = 8192;
    // From the first byte, or from accept, to the end of the head.
    std::chrono::milliseconds header_timeout{10'000};
    std::chrono::milliseconds keep_alive_timeout{60'000};  // between two requests
    std::chrono::milliseconds answer_timeout{10'000};      // what the handler is expected to keep to
    std::chrono::milliseconds write_timeout{30'000};       // to take a whole response, or one event
    enum class Posts { Refused, Handled };
    Posts posts = Posts::Refused;
    // Whether a request with that Host is meant for us; others get 421. Null: all are. See is_own_host().
    std::function<bool(std::string_view host, ListensAt at)> own_host = nullptr;
  };
  // The page for a request, for HEAD as if it were GET. Sees requests of method Get or Head alone, and Post
  // where that is handled.
  using Handler = std::function<asio::awaitable<Page>(PageRequest)>;
  // What a refused request is answered with. The request is empty where none has been understood, or read.
  using ErrorPage = std::function<Page(int status, const PageRequest& request)>;

  PageServer(asio::any_io_executor executor, Settings settings, Handler handler, ErrorPage error_page);
  PageServer(const PageServer&) = delete;
  PageServer& operator=(const PageServer&) = delete;

  // Binds, listens, accepts. `problem` says for people what was wrong with the address.
  [[nodiscard]] Result<void> start(std::string& problem);
  std::uint16_t port() const;  // after start()
  // Of the listening sockets; they stay this object's own.
  std::vector<int> descriptors() const;
  // See net::Listener::own_file().
  void own_files(bool own) noexcept;
  // Closes the listeners, ends the connections, returns when all are gone.
  asio::awaitable<void> stop();
  std::size_t connection_count() const noexcept { return connections_; }

 private:
  asio::awaitable<void> accept_from(net::Listener& listener);
  asio::awaitable<void> serve(net::Socket socket, ListensAt at);
  asio::awaitable<void> serve_requests(net::Stream& stream, net::Deadline& deadline, ListensAt at);
  asio::awaitable<void> serve_events(net::Stream& stream, net::Deadline& deadline, Page page);
  asio::awaitable<Page> page_for(PageRequest request, ListensAt at);
  bool is_handled(PageRequest::Method method) const noexcept;

  asio::any_io_executor executor_;
  Settings settings_;
  Handler handler_;
  ErrorPage error_page_;
  std::vector<net::Listener> listeners_;  // not moved after start(): coroutines hold references
  std::size_t connections_ = 0;
  net::TaskGroup tasks_;
};

}  // namespace sluice::http
