#include "admin/http_admin.h"

#include "tests/admin/http_admin_fixture.h"

namespace sluice::admin::testing {
namespace {

TEST_F(HttpAdminTest, ServesMetricsHealthAndReadiness) {
  start();
  EXPECT_EQ(body(get("/metrics")), "sluice_up 1\n");
  EXPECT_EQ(body(get("/healthz")), "ok\n");
  EXPECT_EQ(status(get("/readyz")), "200");
  EXPECT_NE(body(get("/")).find("/v1/replicas"), std::string::npos);
}

TEST_F(HttpAdminTest, IsNotReadyWithTheRoutersReason) {
  router_.snapshot.state.ready = false;
  router_.snapshot.state.reason = "no replica is up";
  start();
  const std::string response = get("/readyz");
  EXPECT_EQ(status(response), "503");
  EXPECT_EQ(body(response), "no replica is up\n");
}

TEST_F(HttpAdminTest, ServesViewsAsJson) {
  start();
  const std::string replicas = get("/v1/replicas?pretty=1");
  EXPECT_NE(replicas.find("Content-Type: application/json"), std::string::npos);
  EXPECT_NE(replicas.find(R"("loads":{"premium":3,"freemium":1})"), std::string::npos);
  EXPECT_NE(replicas.find(R"("borrowed":true)"), std::string::npos);
  EXPECT_TRUE(body(get("/v1/pools")).starts_with(R"({"pools":[{"database":"shop")"));
  EXPECT_NE(get("/v1/decisions")
                .find(R"("changes":[{"replica":"r0","from":"mixed","to":"premium","kind":"borrow"}])"),
            std::string::npos);
  for (const auto* path :
       {"/v1/classes", "/v1/hosts", "/v1/rtt", "/v1/stats", "/v1/lists", "/v1/databases", "/v1/version"})
    EXPECT_EQ(status(get(path)), "200") << path;
}

TEST_F(HttpAdminTest, ServesTheProfileAsTheRouterTellsIt) {
  start();
  const std::string answer = get("/v1/profile");
  EXPECT_EQ(status(answer), "200");
  EXPECT_NE(answer.find("Content-Type: application/json"), std::string::npos);
  EXPECT_EQ(body(answer), "{\"publication\":{}}\n");
}

TEST_F(HttpAdminTest, KeepsPeopleAndOptionsBehindTheLogin) {
  start();
  for (const auto* path : {"/v1/clients", "/v1/servers", "/v1/users", "/v1/config", "/v1/", "/v1", "/nosuch"})
    EXPECT_EQ(status(get(path)), "404") << path;
}

TEST_F(HttpAdminTest, AnswersHeadWithTheHeadersOfGet) {
  start();
  const std::string response = talk("HEAD /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(status(response), "200");
  EXPECT_NE(response.find("Content-Length: 12\r\n"), std::string::npos);
  EXPECT_EQ(body(response), "");
}

TEST_F(HttpAdminTest, KeepsTheConnectionAndTheOrderOfPipelinedRequests) {
  start();
  const std::string response = talk(
      "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nGET /nosuch HTTP/1.1\r\nHost: x\r\n\r\n"
      "GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  const auto first = response.find("ok\n"), second = response.find(" 404 "),
             third = response.find("sluice_up 1\n");
  EXPECT_LT(first, second);
  EXPECT_LT(second, third);
  EXPECT_NE(third, std::string::npos);
}

TEST_F(HttpAdminTest, RefusesWhatItDoesNotServe) {
  start();
  const std::pair<std::string, std::string> cases[] = {
      {"POST /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "405"},
      {"POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello", "413"},
      {"GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "413"},
      {"GET / HTTP/1.1\r\n\r\n", "400"},
      {"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "400"},
      {"GET http://x/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "200"},
      {"GET / HTTP/9.9\r\nHost: x\r\n\r\n", "505"},
      {"\x16\x03\x01 nonsense\r\n\r\n", "400"},
      {"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", "400"},
      {"GET / HTTP/1.1\r\nHost: x\r\nX: " + std::string(9000, 'a') + "\r\n\r\n", "431"}};
  for (const auto& [request, expected] : cases) {
    const std::string response = talk(request);
    ASSERT_GT(response.size(), 12U) << request.substr(0, 60);
    EXPECT_EQ(status(response), expected) << request.substr(0, 60);
    EXPECT_FALSE(body(response).empty());
  }
  EXPECT_NE(talk(cases[0].first).find("Allow: GET, HEAD\r\n"), std::string::npos);
}

TEST_F(HttpAdminTest, TakesARequestByteByByte) {
  start();
  tcp::socket socket = connect();
  for (const char c : std::string_view("GET /healthz HTTP/1.0\r\n\r\n"))
    asio::write(socket, asio::buffer(&c, 1));
  EXPECT_EQ(body(read_all(socket)), "ok\n");
}

TEST_F(HttpAdminTest, ClosesConnectionsThatDoNotFinishTheirRequest) {
  HttpAdmin::Settings settings;
  settings.header_timeout = std::chrono::milliseconds(50);
  start(settings);
  EXPECT_EQ(talk("GET / HT"), "");
  EXPECT_EQ(talk(""), "");
}

TEST_F(HttpAdminTest, ClosesConnectionsThatStayIdle) {
  HttpAdmin::Settings settings;
  settings.keep_alive_timeout = std::chrono::milliseconds(50);
  start(settings);
  EXPECT_EQ(body(talk("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")), "ok\n");
}

TEST_F(HttpAdminTest, AnswersGatewayTimeoutWhenTheRouterIsSilent) {
  HttpAdmin::Settings settings;
  settings.gather_timeout = std::chrono::milliseconds(50);
  router_.hold = true;
  start(settings);
  EXPECT_EQ(status(get("/v1/replicas")), "504");
  asio::post(io_, asio::use_future([this] { router_.release(); })).get();  // too late: nobody is there
}

TEST_F(HttpAdminTest, RefusesConnectionsAboveTheLimit) {
  HttpAdmin::Settings settings;
  settings.connections_max = 1;
  start(settings);
  tcp::socket first = connect();
  asio::write(first, asio::buffer(std::string_view("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")));
  std::string answer(20, ' ');
  asio::read(first, asio::buffer(answer));
  tcp::socket second = connect();
  EXPECT_EQ(status(read_all(second)), "503");
}

TEST_F(HttpAdminTest, StopsWithConnectionsOpenAndARequestUnanswered) {
  router_.hold = true;
  start();
  tcp::socket idle = connect();
  tcp::socket waiting = connect();
  asio::write(waiting, asio::buffer(std::string_view("GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n")));
}

TEST_F(HttpAdminTest, SaysWhyItCannotListen) {
  start();
  HttpAdmin::Settings settings;
  settings.port = admin_->port();
  asio::io_context io(1);
  HttpAdmin second(io.get_executor(), settings, router_, [] { return std::string(); });
  std::string problem;
  EXPECT_FALSE(second.start(problem));
  EXPECT_FALSE(problem.empty());
}

}  // namespace
}  // namespace sluice::admin::testing
