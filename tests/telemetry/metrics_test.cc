#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "telemetry/reading.h"
#include "telemetry/registry.h"

namespace sluice::telemetry {
namespace {

using policy::ClassId;
using policy::ReplicaId;
using namespace std::chrono_literals;

Names two_classes() {
  Names names;
  names.classes = {"premium", "freemium"};
  names.replicas = {"r0", "r1"};
  names.databases = {"app", "*"};
  names.version = "0.1.0";
  return names;
}

std::size_t slow_bucket_of(std::uint64_t ns) {
  std::size_t bucket = 0;
  while (bucket < kBounds && ns > kBoundsNs[bucket])
    ++bucket;
  return bucket;
}

TEST(Buckets, AgreeWithALinearSearchAroundEveryBoundAndPowerOfTwo) {
  for (const std::uint64_t bound : kBoundsNs)
    for (const std::uint64_t ns : {bound - 1, bound, bound + 1})
      EXPECT_EQ(bucket_of(ns), slow_bucket_of(ns)) << ns;
  for (int shift = 0; shift < 64; ++shift)
    for (const std::uint64_t ns : {(std::uint64_t{1} << shift) - 1, std::uint64_t{1} << shift})
      EXPECT_EQ(bucket_of(ns), slow_bucket_of(ns)) << ns;
  EXPECT_EQ(bucket_of(~std::uint64_t{0}), kBounds);
}

TEST(Buckets, RiseFromTenMicrosecondsToAHundredSeconds) {
  EXPECT_EQ(kBoundsNs.front(), 10'000U);
  EXPECT_EQ(kBoundsNs.back(), 100'000'000'000U);
  for (std::size_t i = 1; i < kBounds; ++i)
    EXPECT_LT(kBoundsNs[i - 1], kBoundsNs[i]);
}

TEST(Labels, SqlstateClassesAreBounded) {
  EXPECT_EQ(sqlstate_class("40001"), SqlstateClass::C40);
  EXPECT_EQ(sqlstate_class("XX000"), SqlstateClass::CXX);
  EXPECT_EQ(sqlstate_class("\"\n999"), SqlstateClass::Other);
  EXPECT_EQ(sqlstate_class("4"), SqlstateClass::Other);
  EXPECT_EQ(label_value(SqlstateClass::Other), "other");
}

TEST(Labels, OutcomesKeepThePolicysOrder) {
  for (const policy::Outcome outcome : policy::kOutcomes)
    EXPECT_EQ(LabelTraits<policy::Outcome>::value(LabelTraits<policy::Outcome>::index(outcome)),
              policy::outcome_name(outcome));
}

TEST(Registry, AddsUpItsThreads) {
  Registry registry(two_classes());
  ThreadMetrics& a = registry.add_thread();
  ThreadMetrics& b = registry.add_thread();
  a.count(metric::sessions_opened_total, ClassId(0), ReplicaId(1));
  b.count(metric::sessions_opened_total, ClassId(0), ReplicaId(1));
  b.count(metric::sessions_opened_total, ClassId(1), ServerLabel::primary());
  a.change(metric::sessions_waiting, 1, ClassId(0));
  b.change(metric::sessions_waiting, -1, ClassId(0));
  const Reading reading = registry.read();
  EXPECT_EQ(reading.value(metric::sessions_opened_total, ClassId(0), ReplicaId(1)), 2);
  EXPECT_EQ(reading.total(metric::sessions_opened_total), 3);
  EXPECT_EQ(reading.value(metric::sessions_waiting, ClassId(0)), 0);
  EXPECT_EQ(reading.total(metric::dropped_samples_total), 0);
}

TEST(Registry, KeepsCountsWhenAReloadAddsNames) {
  Registry registry(two_classes());
  ThreadMetrics& thread = registry.add_thread();
  thread.count(metric::decisions_total, ClassId(1), policy::Outcome::Fallback);
  thread.record(metric::response_seconds, 3ms, ClassId(1), policy::PoolId(ClassId(1)));

  Names more = two_classes();
  for (int i = 0; i < 9; ++i) {
    more.classes.push_back("c" + std::to_string(i));
    more.replicas.push_back("n" + std::to_string(i));
  }
  registry.set_names(more);
  // Not fitted yet: read with the new names, and a new label is dropped, not miscounted.
  EXPECT_EQ(registry.read().value(metric::decisions_total, ClassId(1), policy::Outcome::Fallback), 1);
  thread.count(metric::decisions_total, ClassId(10), policy::Outcome::Own);
  EXPECT_EQ(registry.read().total(metric::dropped_samples_total), 1);
  EXPECT_EQ(registry.read().total(metric::decisions_total), 1);

  thread.fit(registry.extents());
  thread.count(metric::decisions_total, ClassId(10), policy::Outcome::Own);
  thread.record(metric::response_seconds, 3ms, ClassId(1), policy::PoolId(ClassId(1)));
  const Reading reading = registry.read();
  EXPECT_EQ(reading.value(metric::decisions_total, ClassId(1), policy::Outcome::Fallback), 1);
  EXPECT_EQ(reading.value(metric::decisions_total, ClassId(10), policy::Outcome::Own), 1);
  EXPECT_EQ(reading.response_of(ClassId(1)).count(), 2U);
}

TEST(Registry, IsReadWhileThreadsCountAndGrow) {
  Registry registry(two_classes());
  ThreadMetrics& thread = registry.add_thread();
  std::thread writer([&] {
    for (std::uint32_t round = 1; round <= 6; ++round) {
      for (int i = 0; i < 1'000; ++i)
        thread.count(metric::client_connections_total);
      thread.fit({round * 8, round * 8, 2});
    }
  });
  std::int64_t last = 0;
  while (last < 6'000) {
    const std::int64_t now = registry.read().total(metric::client_connections_total);
    EXPECT_GE(now, last);
    last = now;
  }
  writer.join();
}

TEST(Registry, GivesARoutesSlotToAnotherNameOnceItsSeriesAreCleared) {
  Names names = two_classes();
  names.hosts = {"a", "b"};
  Registry registry(names);
  ThreadMetrics& thread = registry.add_thread();
  registry.set_routes({"/feed", "/list"});
  thread.fit(registry.extents());
  const HostLabel host(1);
  thread.count(metric::route_calls_total, host, RouteLabel::other());
  thread.count(metric::route_calls_total, host, RouteLabel(1));
  thread.record(metric::route_response_seconds, 3ms, host, RouteLabel(0));
  thread.record(metric::route_response_seconds, 3ms, host, RouteLabel(1));

  thread.clear(metric::route_calls_total, host, RouteLabel(1));
  thread.clear(metric::route_response_seconds, host, RouteLabel(1));
  registry.set_routes({"/feed", "/new"});
  registry.set_names(names);  // of a reload, which knows of no routes
  thread.record(metric::route_response_seconds, 1ms, host, RouteLabel(1));
  const Reading reading = registry.read();
  EXPECT_EQ(reading.names().routes, (std::vector<std::string>{"/feed", "/new"}));
  EXPECT_EQ(reading.value(metric::route_calls_total, host, RouteLabel(1)), 0);
  EXPECT_EQ(reading.value(metric::route_calls_total, host, RouteLabel::other()), 1);
  EXPECT_EQ(reading.histogram(metric::route_response_seconds, host, RouteLabel(0)).mean(), 3ms);
  EXPECT_EQ(reading.histogram(metric::route_response_seconds, host, RouteLabel(1)).mean(), 1ms);
  const std::string text = registry.exposition();
  EXPECT_NE(text.find("sluice_route_calls_total{host=\"b\",route=\"other\"} 1"), std::string::npos);
  EXPECT_NE(text.find("sluice_route_response_seconds_count{host=\"b\",route=\"/new\"} 1"), std::string::npos);
  EXPECT_EQ(text.find("/list"), std::string::npos);
}

TEST(HistogramReading, EstimatesQuantilesWithinABucket) {
  Registry registry(two_classes());
  ThreadMetrics& thread = registry.add_thread();
  for (int ms = 1; ms <= 100; ++ms)
    thread.record(metric::session_start_seconds, std::chrono::milliseconds(ms), ClassId(0));
  const HistogramReading h = registry.read().histogram(metric::session_start_seconds, ClassId(0));
  EXPECT_EQ(h.count(), 100U);
  EXPECT_EQ(h.quantile(0.5), 50ms);
  EXPECT_NEAR(static_cast<double>(h.quantile(0.95)->count()), 95e6, 1e6);
  EXPECT_EQ(h.mean(), 50'500us);
  EXPECT_FALSE(HistogramReading().quantile(0.5).has_value());
}

TEST(HistogramReading, DifferenceShowsWhatHappenedInBetween) {
  Registry registry(two_classes());
  ThreadMetrics& thread = registry.add_thread();
  thread.record(metric::session_start_seconds, 5s, ClassId(0));
  const HistogramReading before = registry.read().histogram(metric::session_start_seconds, ClassId(0));
  thread.record(metric::session_start_seconds, 1ms, ClassId(0));
  HistogramReading between = registry.read().histogram(metric::session_start_seconds, ClassId(0));
  between -= before;
  EXPECT_EQ(between.count(), 1U);
  EXPECT_LE(*between.quantile(1.0), 1ms);
}

TEST(HistogramReading, CountsNegativeDurationsAsZero) {
  Registry registry(two_classes());
  registry.add_thread().record(metric::session_start_seconds, -1s, ClassId(0));
  const HistogramReading h = registry.read().histogram(metric::session_start_seconds, ClassId(0));
  EXPECT_EQ(h.buckets[0], 1U);
  EXPECT_EQ(h.sum_ns, 0U);
}

TEST(Stats, GatherByClassAndByDatabase) {
  Registry registry(two_classes());
  ThreadMetrics& thread = registry.add_thread();
  thread.change(metric::sessions, 1, ClassId(1), ReplicaId(0));
  thread.change(metric::sessions, 1, ClassId(1), ServerLabel::primary());
  thread.record(metric::response_seconds, 2ms, ClassId(1), PoolLabel::mixed());
  thread.count(metric::queries_total, DatabaseLabel(0));
  thread.add(metric::query_seconds_total, 2ms, DatabaseLabel(0));
  const auto classes = class_stats(registry.read());
  ASSERT_EQ(classes.size(), 2U);
  EXPECT_EQ(classes[1].name, "freemium");
  EXPECT_EQ(classes[1].sessions, 2);
  EXPECT_EQ(classes[1].response.count(), 1U);
  const auto databases = database_stats(registry.read());
  ASSERT_EQ(databases.size(), 2U);
  EXPECT_EQ(databases[0].queries, 1);
  EXPECT_EQ(databases[0].query_time, 2ms);
}

}  // namespace
}  // namespace sluice::telemetry
