#include "demo/sample_app.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <exception>
#include <iostream>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include <asio/co_spawn.hpp>
#include <asio/experimental/as_tuple.hpp>
#include <asio/io_context.hpp>
#include <asio/signal_set.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>
#include <fmt/format.h>

#include "base/assert.h"
#include "http/page_server.h"
#include "pgclient/client.h"

namespace sluice::demo {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds kQueryTimeout = 5s;
constexpr pgclient::Limits kLimits{1, 1024, pgclient::Keep::Rows};

struct RouteRow {
  std::string_view path, encoded;  // encoded as sqlcommenter has it
  int queries;
};
constexpr std::array<RouteRow, 2> kRoutes{{{"/item", "%2Fitem", 1}, {"/feed", "%2Ffeed", kFeedQueries}}};

http::Page text_page(int status, std::string text) {
  http::Page page;
  page.status = status;
  page.body = std::move(text) + '\n';
  return page;
}

// As the placer sends it; what anybody else makes of the field goes into no query.
bool is_traceparent(std::string_view text) {
  return text.size() == 55 && std::all_of(text.begin(), text.end(), [](char c) {
           return c == '-' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

class SampleApp {
 public:
  SampleApp(asio::io_context& io, SampleAppPlan plan)
      : io_(io),
        plan_(std::move(plan)),
        server_(io.get_executor(), settings(plan_), handler(), error_page()) {}

  Result<void> start(std::string& problem) { return server_.start(problem); }
  asio::awaitable<void> stop() { return server_.stop(); }

 private:
  static http::PageServer::Settings settings(const SampleAppPlan& plan) {
    http::PageServer::Settings server;
    server.port = plan.port;
    return server;
  }
  http::PageServer::Handler handler() {
    return [this](http::PageRequest request) { return answer(std::move(request)); };
  }
  static http::PageServer::ErrorPage error_page() {
    return
        [](int status, const http::PageRequest&) { return text_page(status, "This is not answered here."); };
  }

  asio::awaitable<void> wait(std::chrono::milliseconds time) {
    if (time == 0ms) co_return;
    asio::steady_timer timer(io_, time);
    co_await timer.async_wait(asio::experimental::as_tuple(asio::use_awaitable));
  }

  asio::awaitable<http::Page> answer(http::PageRequest request) {
    co_await wait(plan_.way);
    if (request.path == "/health") co_return text_page(200, "ok");
    const auto row = std::find_if(kRoutes.begin(), kRoutes.end(),
                                  [&](const RouteRow& route) { return route.path == request.path; });
    if (row == kRoutes.end()) co_return text_page(404, "There are /item, /feed and /health.");
    std::string comment = fmt::format(" /*action='show',framework='sluice-demo',route='{}'", row->encoded);
    if (is_traceparent(request.traceparent)) comment += ",traceparent='" + request.traceparent + "'";
    comment += "*/";
    auto database = co_await connection();
    if (!database) co_return text_page(503, "The database cannot be reached: " + problem_);
    for (int i = 0; i < row->queries; ++i) {
      const bool done = co_await ask(*database, comment);
      if (!done) co_return text_page(503, "The database does not answer: " + problem_);
    }
    idle_.push_back(*std::move(database));
    co_return text_page(200, fmt::format("{} ran on {}: {} {} to the database, one after another", row->path,
                                         plan_.host, row->queries, row->queries == 1 ? "query" : "queries"));
  }

  asio::awaitable<bool> ask(pgclient::Client& database, const std::string& comment) {
    co_await wait(plan_.database_way);
    std::string sql = "SELECT abalance FROM pgbench_accounts WHERE aid = $1" + comment;
    std::vector<std::optional<std::string>> parameters{std::to_string(account_(random_))};
    const auto rows = co_await database.query(std::move(sql), std::move(parameters), kQueryTimeout, kLimits);
    if (rows) co_return true;
    problem_ = rows.error().message;
    --open_;  // whoever asked lets go of it
    co_return false;
  }

  // One that is idle, or a new one.
  asio::awaitable<std::optional<pgclient::Client>> connection() {
    while (!idle_.empty()) {
      pgclient::Client client = std::move(idle_.back());
      idle_.pop_back();
      if (client.usable() && !client.has_pending_input()) co_return std::move(client);
      --open_;
    }
    if (open_ >= kConnectionsMax) {
      problem_ = "all connections are busy";
      co_return std::nullopt;
    }
    ++open_;
    pgclient::ConnectParams params;
    params.host = "127.0.0.1";
    params.port = plan_.router_port;
    params.user = plan_.user;
    params.password = plan_.password;
    params.database = plan_.database;
    params.application_name = "demo-app";
    params.options = "-c sluice.host=" + plan_.host;
    auto client = co_await pgclient::Client::connect(std::move(params), kQueryTimeout);
    if (client) co_return std::move(*client);
    --open_;
    problem_ = client.error().message;
    co_return std::nullopt;
  }

  asio::io_context& io_;
  SampleAppPlan plan_;
  http::PageServer server_;
  std::vector<pgclient::Client> idle_;
  std::size_t open_ = 0;  // idle or in use
  std::string problem_;   // of the last that failed
  std::minstd_rand random_;
  std::uniform_int_distribution<int> account_{1, 100'000};
};

}  // namespace

int run_sample_app(const SampleAppPlan& plan) {
  asio::io_context io(1);
  SampleApp app(io, plan);
  std::string problem;
  if (!app.start(problem)) {
    std::cerr << "sample application: " << problem << std::endl;
    return 1;
  }
  asio::signal_set signals(io, SIGTERM, SIGINT);
  signals.async_wait([&](const asio::error_code&, int) {
    asio::co_spawn(io, app.stop(), [](const std::exception_ptr& fault) { SLUICE_ASSERT(fault == nullptr); });
  });
  io.run();
  return 0;
}

}  // namespace sluice::demo
