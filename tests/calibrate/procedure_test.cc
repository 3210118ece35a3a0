#include "calibrate/procedure.h"

#include <map>

#include <gtest/gtest.h>

#include "http/page_server.h"
#include "tests/support/run_coroutine.h"

namespace sluice::calibrate {
namespace {

http::Page error_page(int status, const http::PageRequest&) {
  http::Page page;
  page.status = status;
  return page;
}

constexpr calibration::WallTime kNow{std::chrono::seconds(1'800'000'000)};

TEST(Measure, AsksEachPageOfEachHostAsOftenAsPlanned) {
  asio::io_context context;
  std::map<std::string, int> asked;
  const auto handler = [&asked](http::PageRequest request) -> asio::awaitable<http::Page> {
    ++asked[request.path];
    http::Page page;
    page.body = "hello";
    co_return page;
  };
  http::PageServer server(context.get_executor(), {}, handler, error_page);
  std::string problem;
  ASSERT_TRUE(server.start(problem)) << problem;

  Plan plan;
  plan.targets = {{"a", "127.0.0.1", server.port()}, {"b", "localhost", server.port(), "/up"}};
  plan.routes = {{"/feed", "/feed", 3}, {"/articles/:id", "/articles/7", 1}};
  plan.warm_ups = 2;
  plan.samples = 7;
  std::size_t last_done = 0;
  const auto run = [](const Plan* p, std::size_t* done,
                      http::PageServer* s) -> asio::awaitable<std::vector<Series>> {
    const OnStep on_step = [done](std::size_t n, std::size_t) { *done = n; };
    auto series = co_await measure(*p, on_step);
    co_await s->stop();
    co_return series;
  };
  const std::vector<Series> all = tests::run_coroutine(context, run(&plan, &last_done, &server));

  EXPECT_EQ(last_done, plan.steps());
  EXPECT_EQ(asked,
            (std::map<std::string, int>{{"/health", 9}, {"/up", 9}, {"/feed", 18}, {"/articles/7", 18}}));
  ASSERT_EQ(all.size(), 8U);
  for (const Series& series : all)
    EXPECT_EQ(series.ms.size(), 7U) << series.host << " " << series.what;
  EXPECT_EQ(all[2].what, "/feed");
  const calibration::Calibration result = evaluate(plan, all, kNow);
  EXPECT_EQ(result.routes.at(1).name, "/articles/:id");
  EXPECT_EQ(result.routes.at(1).hosts.at(1).host, "b");
  EXPECT_EQ(result.hosts.at(0).health->samples, 7U);
}

Series constant(const std::string& host, const std::string& what, double ms) {
  return {host, what, std::vector<double>(10, ms)};
}

TEST(Evaluate, MakesThePublishedResiduals) {
  Plan plan;
  plan.targets = {{"a", "", 80}, {"b", "", 80}};
  plan.routes = {{"/feed", "/feed", 3}};
  const calibration::Calibration result = evaluate(
      plan,
      {constant("a", "health", 0.741), constant("a", "connect", 0.088), constant("a", "select_1", 0.355),
       constant("b", "health", 1.480), constant("b", "select_1", 0.231), constant("a", "/feed", 2.261),
       constant("b", "/feed", 2.451)},
      kNow);
  EXPECT_NEAR(result.routes[0].hosts[0].residual->count(), 0.455, 1e-9);
  EXPECT_NEAR(result.routes[0].hosts[1].residual->count(), 0.278, 1e-9);
  EXPECT_EQ(result.hosts[0].connect->measured_at, kNow);
  EXPECT_EQ(result.hosts[1].connect, std::nullopt);
}

TEST(Evaluate, TakesTheRoundTripOfTheMatrixWhereThePlanHasIt) {
  Plan plan;
  plan.targets = {{"a", "", 80}};
  plan.routes = {{"/feed", "/feed", 3, calibration::NSerialSource::Observed, {{"a", Millis(0.1)}}}};
  const calibration::Calibration result =
      evaluate(plan, {constant("a", "health", 1), constant("a", "/feed", 2)}, kNow);
  EXPECT_NEAR(result.routes[0].hosts[0].residual->count(), 0.7, 1e-9);
}

TEST(Evaluate, ASqlOnlyPartKnowsOnlyItsHost) {
  const calibration::Calibration part = evaluate({}, {constant("b", "select_1", 0.2)}, kNow);
  ASSERT_EQ(part.hosts.size(), 1U);
  EXPECT_EQ(part.hosts[0].name, "b");
  EXPECT_EQ(part.hosts[0].select_1->median, Millis(0.2));
}

TEST(TooNoisy, NamesWhatCannotBeUsed) {
  Plan plan;
  plan.targets = {{"a", "", 80}};
  plan.routes = {{"/feed", "/feed", 3}};
  Series noisy{"a", "/feed", {}};
  for (int i = 0; i < 20; ++i)
    noisy.ms.push_back(1 + 0.1 * i);
  const auto sentences = too_noisy(evaluate(plan, {constant("a", "health", 1), noisy}, kNow));
  ASSERT_EQ(sentences.size(), 1U);
  EXPECT_EQ(sentences[0],
            "a /feed: median 1.950 ms of 20 samples, but anything from 1.500 to 2.400 ms is as likely");
}

TEST(TooNoisy, BearsWhatAClockScattersBy) {
  Plan plan;
  plan.targets = {{"a", "", 80}};
  Series connect{"a", "connect", {}};
  for (int i = 0; i < 20; ++i)
    connect.ms.push_back(0.04 + 0.001 * i);
  EXPECT_TRUE(too_noisy(evaluate(plan, {connect}, kNow)).empty());
}

}  // namespace
}  // namespace sluice::calibrate
