#include "calibrate/query_count.h"

#include <gtest/gtest.h>

#include "calibrate/failure.h"
#include "http/page_server.h"
#include "tests/support/run_coroutine.h"

namespace sluice::calibrate {
namespace {

http::Page empty_error_page(int status, const http::PageRequest&) {
  http::Page page;
  page.status = status;
  return page;
}

TEST(QueryCount, AddsAllDatabases) {
  EXPECT_EQ(
      query_count("# HELP sluice_queries_total Queries completed.\n# TYPE sluice_queries_total counter\n"
                  "sluice_queries_total{database=\"a b\"} 12\nsluice_queries_total{database=\"c\"} 30\n"
                  "sluice_queries_total_of_others 5\nsluice_query_seconds_total 3\n"),
      42);
  EXPECT_EQ(query_count("sluice_queries_total 1.5e3"), 1500);
  EXPECT_EQ(query_count(""), std::nullopt);
  EXPECT_EQ(query_count("sluice_queries_total{database=\"a\"} x\n"), std::nullopt);
}

// An application and its router in one: each page makes the queries that its name says.
class CountTest : public testing::Test {
 protected:
  // N_serial, or what went wrong.
  std::string count(const std::string& path, double of_others) {
    asio::io_context context;
    double queries = 100;
    const auto handler = [&](http::PageRequest request) -> asio::awaitable<http::Page> {
      http::Page page;
      if (request.path == "/metrics")
        page.body = "sluice_queries_total{database=\"d\"} " + std::to_string(queries) + "\n";
      else
        queries += std::stod(request.path.substr(1)) + of_others;
      co_return page;
    };
    http::PageServer server(context.get_executor(), {}, handler, empty_error_page);
    std::string problem;
    EXPECT_TRUE(server.start(problem)) << problem;
    HttpClient application("a", "127.0.0.1", server.port(), std::chrono::seconds(20));
    HttpClient admin("router", "127.0.0.1", server.port(), std::chrono::seconds(20));
    const auto run = [](HttpClient* a, HttpClient* r, std::string p,
                        http::PageServer* s) -> asio::awaitable<std::string> {
      std::string outcome;
      try {
        const double n = co_await count_n_serial(*a, p, *r, 10);
        outcome = std::to_string(static_cast<int>(n));
      } catch (const Failure& e) {
        outcome = e.what();
      }
      co_await s->stop();
      co_return outcome;
    };
    return tests::run_coroutine(context, run(&application, &admin, path, &server));
  }
};

TEST_F(CountTest, IsTheDifferencePerRequest) {
  EXPECT_EQ(count("/12", 0), "12");
  EXPECT_EQ(count("/0", 0), "0");
  EXPECT_EQ(count("/3", 0.05), "3");
}

TEST_F(CountTest, RefusesWhereSomebodyElseUsesTheRouter) {
  EXPECT_EQ(count("/3", 0.4),
            "N_serial of /3: 3.40 queries per request; somebody else uses the router, or requests differ");
}

}  // namespace
}  // namespace sluice::calibrate
