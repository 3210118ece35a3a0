#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <asio/buffer.hpp>
#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/post.hpp>
#include <asio/read.hpp>
#include <asio/use_future.hpp>
#include <asio/write.hpp>
#include <gtest/gtest.h>

#include "admin/http_admin.h"
#include "tests/admin/fake_router_view.h"

namespace sluice::admin::testing {

// The server on a thread of its own; requests are written and answers read to their end, blocking.
class HttpAdminTest : public ::testing::Test {
 protected:
  using tcp = asio::ip::tcp;

  void start(HttpAdmin::Settings settings = {}) {
    settings.port = 0;
    admin_ = std::make_unique<HttpAdmin>(
        io_.get_executor(), settings, router_, [] { return "sluice_up 1\n"; }, [this] { return token_; });
    std::string problem;
    ASSERT_TRUE(admin_->start(problem)) << problem;
    thread_ = std::thread([this] { io_.run(); });
  }
  void TearDown() override {
    if (!thread_.joinable()) return;
    asio::co_spawn(io_, admin_->stop(), asio::use_future).get();
    thread_.join();
    EXPECT_EQ(admin_->connection_count(), 0U);
  }

  tcp::socket connect() {
    tcp::socket socket(client_io_);
    socket.connect({asio::ip::address_v4::loopback(), admin_->port()});
    return socket;
  }
  static std::string read_all(tcp::socket& socket) {
    std::string text;
    std::error_code ec;
    asio::read(socket, asio::dynamic_buffer(text), ec);
    return text;
  }
  std::string talk(std::string_view request) {
    tcp::socket socket = connect();
    asio::write(socket, asio::buffer(request));
    return read_all(socket);
  }
  std::string get(const std::string& path) {
    return talk("GET " + path + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  }
  static std::string status(const std::string& response) { return response.substr(9, 3); }
  static std::string body(const std::string& response) {
    return response.substr(response.find("\r\n\r\n") + 4);
  }

  // What the router was told and asked; it is the server's thread that writes it down.
  std::vector<std::string> commands() {
    return asio::post(io_, asio::use_future([this] { return router_.commands; })).get();
  }
  std::vector<FakeRouterView::Refusal> refusals() {
    return asio::post(io_, asio::use_future([this] { return router_.refusals; })).get();
  }
  std::size_t gathered_parts() {
    return asio::post(io_, asio::use_future([this] { return router_.gathered.size(); })).get();
  }

  FakeRouterView router_;
  std::string token_;
  asio::io_context io_{1}, client_io_{1};
  std::unique_ptr<HttpAdmin> admin_;
  std::thread thread_;
};

}  // namespace sluice::admin::testing
