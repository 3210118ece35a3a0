// What the dashboard lives on: its page, its documents, its stream, its commands.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <asio/read_until.hpp>
#include <asio/streambuf.hpp>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/admin/http_admin_fixture.h"
#include "web/assets.h"

namespace sluice::admin::testing {
namespace {

using Json = nlohmann::json;

class DashboardTest : public HttpAdminTest {
 protected:
  static constexpr const char* kToken = "0123456789abcdef";

  Json json(const std::string& path) { return Json::parse(body(get(path))); }
  std::string post(const std::string& path, const std::string& fields) {
    return talk("POST " + path + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + fields +
                "Content-Length: 0\r\n\r\n");
  }
  std::string with_token() const { return std::string("Authorization: Bearer ") + kToken + "\r\n"; }
  // Reads events until one of that kind; its document.
  Json event(tcp::socket& socket, const std::string& kind) {
    while (true) {
      const std::size_t bytes = asio::read_until(socket, asio::dynamic_buffer(received_), "\n\n");
      const std::string text = received_.substr(0, bytes);
      received_.erase(0, bytes);
      const std::string begin = "event: " + kind + "\ndata: ";
      const std::size_t at = text.find(begin);
      if (at != std::string::npos) return Json::parse(text.substr(at + begin.size()));
    }
  }
  tcp::socket events() {
    tcp::socket socket = connect();
    asio::write(socket, asio::buffer(std::string("GET /v1/events HTTP/1.1\r\nHost: x\r\n\r\n")));
    return socket;
  }

  static bool has_ipv6() {
    asio::io_context io;
    tcp::acceptor acceptor(io);
    std::error_code ec;
    acceptor.open(tcp::v6(), ec);
    if (!ec) acceptor.bind({asio::ip::address_v6::loopback(), 0}, ec);
    return !ec;
  }

  std::string received_;
};

TEST_F(DashboardTest, SaysHowThingsAreInOneDocument) {
  router_.snapshot.classes[0].recent_response = {12, {Micros(250), Micros(900), std::nullopt}};
  router_.snapshot.rejections = {{"budget", 0}, {"no_replica", 3}};
  router_.snapshot.warnings = {{"sluice.yaml", 3, "auth_type", "is not used", "remove it"}};
  start();
  const Json overview = json("/v1/overview");
  EXPECT_EQ(overview["ready"], true);
  EXPECT_EQ(overview["commands"], false);
  EXPECT_EQ(overview["classes"][0]["response"],
            Json::parse(R"({"count": 12, "median_us": 250, "p95_us": 900, "p99_us": null})"));
  EXPECT_EQ(overview["replicas"][0]["loads"], Json::parse(R"({"premium": 3, "freemium": 1})"));
  EXPECT_EQ(overview["replicas"][0]["lag_ms"], 12);
  EXPECT_EQ(overview["rejections"], Json::parse(R"({"no_replica": 3})"));
  EXPECT_EQ(overview["warnings"][0]["key"], "auth_type");
}

TEST_F(DashboardTest, MakesTheOverviewOncePerIntervalForAll) {
  start();
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(status(get("/v1/overview")), "200");
  // One of the feed's own for the history, one for these; another where the machine was slow.
  EXPECT_LE(gathered_parts(), 6U);
}

TEST_F(DashboardTest, HasAHistoryFromTheStart) {
  start();
  tcp::socket stream = events();
  const Json sample = event(stream, "sample");
  EXPECT_EQ(sample["classes"][0]["name"], "premium");
  const Json history = json("/v1/history");
  EXPECT_EQ(history["step_s"], 10);
  EXPECT_GE(history["times_ms"].size(), 1U);
  EXPECT_EQ(history["replicas"][0]["stays"][0]["pool"], "premium");
}

TEST_F(DashboardTest, StreamsEachKindOfEvent) {
  router_.snapshot.decisions[0].user = "<script>alert(1)</script>\n\ndata: {}";
  router_.snapshot.decisions[0].reason = "its own pool had room";
  router_.snapshot.role_changes = {{4, router_.now(), "premium", {"r0", "mixed", "premium", "borrow"}}};
  start();
  tcp::socket stream = events();
  EXPECT_EQ(event(stream, "overview")["replicas"][0]["name"], "r0");
  // A name with line ends in it stays within its event.
  const Json decisions = event(stream, "decisions");
  EXPECT_EQ(decisions["decisions"][0]["user"], "<script>alert(1)</script>\n\ndata: {}");
  EXPECT_EQ(decisions["decisions"][0]["reason"], "its own pool had room");
  EXPECT_EQ(decisions["role_changes"][0]["kind"], "borrow");
  EXPECT_EQ(event(stream, "routes")["routes"][0]["name"], "/feed");
  EXPECT_EQ(event(stream, "rtt")["rtt_us"], Json::parse("[[700]]"));
}

TEST_F(DashboardTest, BoundsTheStreams) {
  HttpAdmin::Settings settings;
  settings.event_streams_max = 1;
  start(settings);
  tcp::socket first = events();
  event(first, "overview");
  EXPECT_EQ(status(get("/v1/events")), "503");
}

TEST_F(DashboardTest, AsksTheRouterOnceForAllViewers) {
  start();
  std::vector<tcp::socket> streams;
  for (int i = 0; i < 10; ++i)
    streams.push_back(events());
  for (tcp::socket& stream : streams) {
    received_.clear();
    event(stream, "rtt");
  }
  const auto gathered = asio::post(io_, asio::use_future([this] { return router_.gathered; })).get();
  EXPECT_LE(std::count(gathered.begin(), gathered.end(), Part::Rtt), 2) << "they come every ten seconds";
}

TEST_F(DashboardTest, EndsStreamsWhenTheRouterShutsDown) {
  start();
  tcp::socket stream = events();
  EXPECT_EQ(event(stream, "overview")["shutting_down"], false);
  asio::post(io_, asio::use_future([this] { router_.snapshot.state.shutting_down = true; })).get();
  EXPECT_EQ(event(stream, "overview")["shutting_down"], true);
  read_all(stream);  // to its end
  EXPECT_EQ(status(get("/v1/events")), "503");
  EXPECT_EQ(status(get("/v1/overview")), "200");
}

TEST_F(DashboardTest, StopsWithStreamsOpen) {
  start();
  tcp::socket stream = events();
  event(stream, "overview");
}

TEST_F(DashboardTest, GivesNoStreamToPagesFromElsewhere) {
  start();
  const std::string begin = "GET /v1/events HTTP/1.1\r\nHost: x\r\nConnection: close\r\n";
  EXPECT_EQ(status(talk(begin + "Sec-Fetch-Site: cross-site\r\n\r\n")), "403");
  EXPECT_EQ(status(talk(begin + "Origin: http://evil.example\r\n\r\n")), "403");
}

TEST_F(DashboardTest, AnswersHeadOfAStream) {
  start();
  const std::string head = talk("HEAD /v1/events HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(status(head), "200");
  EXPECT_NE(head.find("Content-Type: text/event-stream\r\n"), std::string::npos);
  EXPECT_EQ(head.find("Content-Length"), std::string::npos);
  EXPECT_EQ(body(head), "");
  // Nobody looks: the router is not asked for what viewers see alone.
  EXPECT_EQ(status(get("/v1/overview")), "200");
  const auto gathered = asio::post(io_, asio::use_future([this] { return router_.gathered; })).get();
  EXPECT_EQ(std::count(gathered.begin(), gathered.end(), Part::Routes), 0);
}

TEST_F(DashboardTest, CarriesOutCommandsForTheTokenAlone) {
  token_ = kToken;
  start();
  EXPECT_EQ(json("/v1/overview")["commands"], true);
  EXPECT_EQ(status(post("/v1/replicas/r0/drain", "")), "401");
  EXPECT_EQ(status(post("/v1/replicas/r0/drain", "Authorization: Bearer 0123456789abcdeF\r\n")), "401");
  EXPECT_EQ(status(post("/v1/replicas/r0/drain", with_token() + "Origin: http://evil.example\r\n")), "403");
  EXPECT_TRUE(commands().empty());
  EXPECT_EQ(status(post("/v1/replicas/r0/drain", with_token())), "200");
  EXPECT_EQ(status(post("/v1/replicas/a%20b/undrain", with_token() + "Origin: http://x\r\n")), "200");
  EXPECT_EQ(status(post("/v1/reload", with_token())), "200");
  EXPECT_EQ(commands(), (std::vector<std::string>{"drain r0", "undrain a b", "reload"}));
}

// Whoever tries tokens, or commands through a browser's page, is to be seen.
TEST_F(DashboardTest, TellsOfCommandsThatItRefuses) {
  start();
  post("/v1/reload", with_token());
  asio::post(io_, asio::use_future([this] { token_ = kToken; })).get();
  post("/v1/replicas/r0/drain", "Authorization: Bearer 0123456789abcdeF\r\n");
  post("/v1/replicas/r0/undrain", with_token() + "Sec-Fetch-Site: cross-site\r\n");
  EXPECT_EQ(status(post("/v1/reload", with_token())), "200");
  const auto refused = refusals();
  ASSERT_EQ(refused.size(), 3U);
  EXPECT_EQ(refused[0].command, "reload");
  EXPECT_EQ(refused[0].why, CommandRefusal::Off);
  EXPECT_EQ(refused[1].command, "drain");
  EXPECT_EQ(refused[1].why, CommandRefusal::Token);
  EXPECT_EQ(refused[2].command, "undrain");
  EXPECT_EQ(refused[2].why, CommandRefusal::Foreign);
  for (const auto& one : refused)
    EXPECT_TRUE(one.peer.starts_with("127.0.0.1:")) << one.peer;
}

// DNS rebinding: the page is of our own origin to its browser, but asks for another's name.
TEST_F(DashboardTest, AnswersForItsOwnNamesAlone) {
  token_ = kToken;
  HttpAdmin::Settings settings;
  settings.own_host = [](std::string_view host, http::ListensAt) { return host == "x"; };
  start(settings);
  const auto asked_for = [&](const std::string& host, const std::string& path) {
    return status(talk("GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n"));
  };
  for (const char* path :
       {"/", "/metrics", "/healthz", "/v1/overview", "/v1/events", "/v1/replicas", "/nosuch"}) {
    EXPECT_EQ(asked_for("evil.example", path), "421") << path;
  }
  EXPECT_EQ(asked_for("x", "/metrics"), "200");
  const std::string refused =
      talk("POST /v1/reload HTTP/1.1\r\nHost: evil.example\r\nOrigin: http://evil.example\r\n" +
           with_token() + "Connection: close\r\n\r\n");
  EXPECT_EQ(status(refused), "421");
  EXPECT_NE(Json::parse(body(refused))["error"].get<std::string>().find("admin_names"), std::string::npos);
  EXPECT_TRUE(commands().empty());
  ASSERT_EQ(refusals().size(), 1U);
  EXPECT_EQ(refusals()[0].why, CommandRefusal::Host);
}

// Was: other spellings of loopback, and names of it, were taken for addresses that others reach.
TEST_F(DashboardTest, KnowsLoopbackByWhatItIsBoundTo) {
  for (const char* address : {"127.0.0.1", "127.1", "0x7f000001", "0.0.0.0", "::1", "0:0:0:0:0:0:0:1"}) {
    http::ListensAt seen{};
    HttpAdmin::Settings settings;
    settings.address = address;
    settings.own_host = [&seen](std::string_view, http::ListensAt at) {
      seen = at;
      return true;
    };
    const bool ipv6 = std::string_view(address).ends_with(":1");
    if (ipv6 && !has_ipv6()) continue;
    start(settings);
    tcp::socket socket(client_io_);
    const asio::ip::address v4 = asio::ip::address_v4::loopback(), v6 = asio::ip::address_v6::loopback();
    socket.connect({ipv6 ? v6 : v4, admin_->port()});
    asio::write(
        socket,
        asio::buffer(std::string_view("GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")));
    EXPECT_EQ(status(read_all(socket)), "200");
    TearDown();
    EXPECT_EQ(seen,
              std::string_view(address) == "0.0.0.0" ? http::ListensAt::Elsewhere : http::ListensAt::Loopback)
        << address;
    io_.restart();
  }
}

TEST_F(DashboardTest, AnswersEveryCommandWithJson) {
  token_ = kToken;
  HttpAdmin::Settings settings;
  settings.gather_timeout = std::chrono::milliseconds(50);
  router_.hold = true;
  start(settings);
  const std::string late = post("/v1/reload", with_token());
  EXPECT_EQ(status(late), "504");
  EXPECT_FALSE(Json::parse(body(late))["error"].get<std::string>().empty());
  const std::string nowhere = post("/v1/replicas", with_token());
  EXPECT_EQ(status(nowhere), "405");
  EXPECT_NE(nowhere.find("Allow: GET, HEAD\r\n"), std::string::npos);
  EXPECT_FALSE(Json::parse(body(nowhere))["error"].get<std::string>().empty());
}

TEST_F(DashboardTest, CarriesOutNothingWithoutAConfiguredToken) {
  start();
  EXPECT_EQ(status(post("/v1/reload", with_token())), "403");
  EXPECT_EQ(status(post("/v1/reload", "Authorization: Bearer \r\n")), "403");
  EXPECT_TRUE(commands().empty());
}

TEST_F(DashboardTest, SaysWhyACommandFailed) {
  token_ = kToken;
  router_.result = {"42704", "there is no replica \"x\"", "", "look again", {}};
  start();
  const std::string answer = post("/v1/replicas/x/drain", with_token());
  EXPECT_EQ(status(answer), "404");
  EXPECT_EQ(Json::parse(body(answer))["error"], "there is no replica \"x\"");
  EXPECT_EQ(status(post("/v1/replicas/r0/explode", with_token())), "405");
  EXPECT_EQ(status(post("/v1/replicas//drain", with_token())), "405");
  EXPECT_EQ(status(get("/v1/reload")), "404");
}

TEST_F(DashboardTest, SaysWhatWentWrongWithAReload) {
  token_ = kToken;
  router_.result = {"F0000", "sluice.yaml:3: error", "", "", {}};
  start();
  EXPECT_EQ(status(post("/v1/reload", with_token())), "409");
}

TEST_F(DashboardTest, GivesThePageToBrowsersAndTheListToOthers) {
  start();
  EXPECT_NE(body(get("/")).find("/v1/overview"), std::string::npos);
  const std::string page = talk(
      "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAccept: text/html,*/*;q=0.8\r\nAccept-Encoding: "
      "gzip, br\r\n\r\n");
  if (web::find_asset("/dashboard") == nullptr) {
    EXPECT_EQ(status(page), "200");
    EXPECT_NE(body(page).find("-DSLUICE_DASHBOARD=ON"), std::string::npos);
    EXPECT_NE(body(page).find("/v1/overview"), std::string::npos);
    EXPECT_EQ(status(get("/dashboard")), "404");
    return;
  }
  EXPECT_EQ(status(page), "200");
  EXPECT_NE(page.find("Content-Encoding: gzip\r\n"), std::string::npos);
  EXPECT_NE(page.find("Content-Type: text/html; charset=utf-8\r\n"), std::string::npos);
  EXPECT_NE(page.find("X-Content-Type-Options: nosniff\r\n"), std::string::npos);
  const std::size_t policy = page.find("Content-Security-Policy: ");
  ASSERT_NE(policy, std::string::npos);
  const std::string rule = page.substr(policy, page.find("\r\n", policy) - policy);
  EXPECT_NE(rule.find("default-src 'none'"), std::string::npos);
  EXPECT_NE(rule.find("frame-ancestors 'none'"), std::string::npos);
  EXPECT_EQ(rule.find("unsafe"), std::string::npos);
  for (const web::Asset& asset : web::assets()) {
    const bool ours = asset.path.starts_with("/dashboard");
    const std::string answer = get(std::string(asset.path));
    EXPECT_EQ(status(answer), ours ? "200" : "404") << asset.path;
    if (ours) {
      EXPECT_EQ(body(answer), asset.gzip) << asset.path;
    }
  }
}

TEST_F(DashboardTest, SaysSoToWhoTakesNoGzip) {
  if (web::find_asset("/dashboard") == nullptr) GTEST_SKIP() << "built without the dashboard";
  start();
  const std::string begin = "GET /dashboard HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAccept-Encoding: ";
  EXPECT_EQ(status(talk(begin + "identity\r\n\r\n")), "406");
  EXPECT_EQ(status(talk(begin + "br, gzip;q=0\r\n\r\n")), "406");
  EXPECT_EQ(status(talk(begin + "gzip;q=0.5\r\n\r\n")), "200");
  EXPECT_EQ(status(talk(begin + "*\r\n\r\n")), "200");
}

}  // namespace
}  // namespace sluice::admin::testing
