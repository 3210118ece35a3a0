#include "router/route_watch.h"

#include <string>

#include <gtest/gtest.h>

#include "router/call_collector.h"

namespace sluice::router {
namespace {

using namespace std::chrono_literals;
using Clock = RouteWatch::Clock;
namespace metric = telemetry::metric;

telemetry::Names two_hosts() {
  telemetry::Names names;
  names.classes = {"premium", "freemium"};
  names.hosts = {"a", "b"};
  return names;
}

class RouteWatchTest : public testing::Test {
 protected:
  // A call of `trace` (0: none) that took a millisecond; each begins after the one before.
  void call(const std::string& route, std::uint64_t trace, std::uint32_t host = 0) {
    trace::Call call;
    call.trace = {0, trace};
    call.begin = now;
    call.end = now + 1ms;
    call.response = 1ms;
    now += 2ms;
    collector.add(call, trace::RouteName(route), trace::Origin{host, 1});
  }
  void tick(std::chrono::seconds passed) {
    collector.hand_over();
    now += passed;
    watch.tick(now);
  }
  std::vector<admin::RouteRow> rows() {
    return watch.rows([](policy::ClassId id) { return "class " + std::to_string(id.value()); }, now);
  }

  Clock::time_point now = Clock::time_point(1h);
  telemetry::Registry registry{two_hosts()};
  telemetry::ThreadMetrics& metrics = registry.add_thread();
  RouteWatch watch{registry, metrics, 2, 5s};
  CallCollector collector{metrics, [this](const trace::CallBatch& batch) {
                            if (!watch.accepts()) return false;
                            watch.take(batch, now);
                            return true;
                          }};
};

TEST_F(RouteWatchTest, CountsCallsByHostAndRouteAndRequestsByRoute) {
  for (std::uint64_t request = 1; request <= 3; ++request)
    for (int i = 0; i < 3; ++i)
      call("/feed", request, request == 3 ? 1 : 0);
  call("/list", 9);
  tick(0s);
  tick(7s);
  const telemetry::Reading reading = registry.read();
  const telemetry::HostLabel a(0), b(1);
  const telemetry::RouteLabel feed(0), list(1);
  EXPECT_EQ(reading.value(metric::route_calls_total, a, feed), 6);
  EXPECT_EQ(reading.value(metric::route_calls_total, b, feed), 3);
  EXPECT_EQ(reading.histogram(metric::route_response_seconds, a, list).count(), 1U);
  EXPECT_EQ(reading.value(metric::route_requests_total, feed), 3);
  EXPECT_EQ(reading.total(metric::dropped_samples_total), 0);

  const std::vector<admin::RouteRow> shown = rows();
  ASSERT_EQ(shown.size(), 2U);
  EXPECT_EQ(shown[0].name, "/feed");
  EXPECT_EQ(shown[0].requests, 3);
  EXPECT_EQ(shown[0].n_serial_median, 3);
  EXPECT_TRUE(shown[0].usable);
  EXPECT_EQ(shown[0].priority_class, "class 1");
  const auto routes = watch.routes([](policy::ClassId) { return std::string(); });
  ASSERT_EQ(routes.size(), 2U);
  EXPECT_DOUBLE_EQ(routes[0].n_serial_mean, 3);
  EXPECT_EQ(routes[1].requests, 1U);
}

TEST_F(RouteWatchTest, SaysWhatItKnowsBeforeARequestHasEnded) {
  call("/feed", 1);
  tick(0s);
  EXPECT_FALSE(rows()[0].n_serial_median);
  EXPECT_FALSE(rows()[0].usable);
}

TEST_F(RouteWatchTest, CountsRoutesWithoutASlotAsOther) {
  for (const char* route : {"/a", "/b", "/c", "/d"})
    call(route, 1);
  tick(0s);
  const telemetry::Reading reading = registry.read();
  EXPECT_EQ(reading.value(metric::route_calls_total, telemetry::HostLabel(0), telemetry::RouteLabel::other()),
            2);
  EXPECT_EQ(rows().size(), 2U);
}

TEST_F(RouteWatchTest, BeginsTheSeriesOfASlotAnewForAnotherRoute) {
  tick(0s);
  call("/a", 1);
  call("/rare", 2);
  for (int i = 0; i < 10; ++i) {
    call("/a", 1);
    call("/new", 3);
  }
  tick(61s);
  EXPECT_EQ(registry.names()->routes, (std::vector<std::string>{"/a", "/new"}));
  EXPECT_EQ(
      registry.read().value(metric::route_calls_total, telemetry::HostLabel(0), telemetry::RouteLabel(1)), 0);
  call("/new", 4);
  tick(0s);
  EXPECT_EQ(
      registry.read().value(metric::route_calls_total, telemetry::HostLabel(0), telemetry::RouteLabel(1)), 1);
}

TEST_F(RouteWatchTest, ExportsNSerialAndUntracedShare) {
  call("/feed", 1);
  call("/feed", 0);
  tick(0s);
  tick(7s);
  registry.add_sampler([&](telemetry::Samples& samples) { watch.sample(samples); });
  const std::string text = registry.exposition();
  EXPECT_NE(text.find("sluice_route_serial_calls{route=\"/feed\",statistic=\"median\"} 1\n"),
            std::string::npos);
  EXPECT_NE(text.find("sluice_route_untraced_ratio{route=\"/feed\"} 0.5"), std::string::npos);
  EXPECT_NE(text.find("sluice_traces_open 0\n"), std::string::npos);
}

TEST_F(RouteWatchTest, DropsAndCountsBatchesThatTheControlThreadHasNoTimeFor) {
  for (std::size_t i = 0; i < RouteWatch::kBatchesMax; ++i)
    ASSERT_TRUE(watch.accepts());
  call("/feed", 1);
  call("/feed", 1);
  tick(0s);
  EXPECT_EQ(registry.read().total(metric::trace_calls_dropped_total), 2);
  EXPECT_TRUE(rows().empty());
}

}  // namespace
}  // namespace sluice::router
