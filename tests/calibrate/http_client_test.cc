#include "calibrate/http_client.h"

#include <gtest/gtest.h>

#include "calibrate/failure.h"
#include "tests/calibrate/scripted_server.h"
#include "tests/support/run_coroutine.h"

namespace sluice::calibrate {
namespace {

const std::string kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

class HttpClientTest : public testing::Test {
 protected:
  // Sends `requests` requests; the last body, or what went wrong.
  std::string get(std::vector<std::string> answers, int requests = 1,
                  HttpClient::Connections connections = HttpClient::Connections::Kept,
                  std::chrono::milliseconds timeout = std::chrono::seconds(20)) {
    ScriptedServer server(context_, std::move(answers));
    HttpClient client("a", "127.0.0.1", server.port(), timeout);
    const auto run = [](HttpClient* c, int n, HttpClient::Connections kept,
                        asio::io_context* context) -> asio::awaitable<std::string> {
      std::string outcome;
      try {
        for (int i = 0; i < n; ++i)
          co_await c->get("/page", kept);
        outcome = c->body();
      } catch (const Failure& e) {
        outcome = std::string("failed: ") + e.what();
      }
      context->stop();
      co_return outcome;
    };
    const std::string outcome =
        tests::run_coroutine(context_, run(&client, requests, connections, &context_));
    opened_ = server.connections();
    request_ = server.last_request();
    served_by_ = client.served_by();
    const std::string port = std::to_string(server.port());
    const std::size_t at = outcome.find(port);
    return at == outcome.npos ? outcome : outcome.substr(0, at) + "PORT" + outcome.substr(at + port.size());
  }

  asio::io_context context_;
  int opened_ = 0;
  std::string request_, served_by_;
};

TEST_F(HttpClientTest, KeepsItsConnection) {
  EXPECT_EQ(get({kOk, kOk, kOk}, 3), "ok");
  EXPECT_EQ(opened_, 1);
}

TEST_F(HttpClientTest, OpensOnePerRequestWhereAsked) {
  EXPECT_EQ(get({kOk + kClose, kOk + kClose, kOk}, 3, HttpClient::Connections::PerRequest), "ok");
  EXPECT_EQ(opened_, 3);
}

TEST_F(HttpClientTest, AsksWithHostAndATraceOfItsOwn) {
  get({kOk});
  EXPECT_TRUE(request_.starts_with("GET /page HTTP/1.1\r\nHost: 127.0.0.1\r\n")) << request_;
  EXPECT_NE(request_.find("\r\ntraceparent: 00-"), request_.npos) << request_;
}

TEST_F(HttpClientTest, SaysWhereAPlacerSentTheRequest) {
  get({kOk});
  EXPECT_EQ(served_by_, "");
  get({"HTTP/1.1 200 OK\r\nX-Sluice-Host: b\r\nContent-Length: 0\r\n\r\n"});
  EXPECT_EQ(served_by_, "b");
}

TEST_F(HttpClientTest, ReadsEveryKindOfBody) {
  EXPECT_EQ(
      get({"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n", kOk}, 2),
      "ok");
  EXPECT_EQ(opened_, 1);
  EXPECT_EQ(get({"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"}),
            "abcde");
  EXPECT_EQ(get({"HTTP/1.1 200 OK\r\n\r\nuntil the end" + kClose}), "until the end");
  EXPECT_EQ(get({"HTTP/1.1 204 No Content\r\n\r\n"}), "");
  EXPECT_EQ(get({"HTTP/1.1 103 Early Hints\r\n\r\n" + kOk}), "ok");
}

TEST_F(HttpClientTest, OpensAnotherWhenTheKeptOneWasClosed) {
  EXPECT_EQ(get({kOk + kClose, kOk}, 2), "ok");
  EXPECT_EQ(opened_, 2);
  EXPECT_EQ(get({"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n" + kClose, kOk}, 2),
            "ok");
  EXPECT_EQ(opened_, 2);
}

TEST_F(HttpClientTest, SaysWhatWentWrong) {
  const std::string at = "failed: a (127.0.0.1:PORT), GET /page: ";
  EXPECT_EQ(get({"HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n"}), at + "answered 500");
  EXPECT_EQ(get({""}), at + "the connection was closed without an answer");
  EXPECT_EQ(get({"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort" + kClose}),
            at + "the answer broke off, or did not end within the timeout");
  EXPECT_EQ(get({"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n"}),
            at + "its answer's body is broken");
  EXPECT_EQ(get({kSilence}, 1, HttpClient::Connections::Kept, std::chrono::milliseconds(50)),
            at + "no answer within the timeout");
  EXPECT_TRUE(get({"SSH-2.0-OpenSSH\r\n\r\n"}).starts_with(at));
}

TEST_F(HttpClientTest, SaysWhereNobodyListens) {
  std::uint16_t port = 0;
  {
    const ScriptedServer gone(context_, {});
    port = gone.port();
  }
  HttpClient client("a", "127.0.0.1", port, std::chrono::seconds(20));
  const auto run = [](HttpClient* c) -> asio::awaitable<bool> {
    bool failed = false;
    try {
      co_await c->connect_once();
    } catch (const Failure& e) {
      failed = std::string(e.what()).find("no connection: Connection refused") != std::string::npos;
    }
    co_return failed;
  };
  EXPECT_TRUE(tests::run_coroutine(context_, run(&client)));
}

}  // namespace
}  // namespace sluice::calibrate
