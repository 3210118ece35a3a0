#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "profile/profile_error.h"
#include "profile/publisher.h"
#include "profile/read_profile.h"
#include "tests/profile/sample.h"

namespace sluice::profile {
namespace {

// Contents of which every record tells the round, so that a mixture of two shows.
Contents of_round(std::uint64_t round) {
  Contents c;
  c.hosts.resize(2);
  c.servers.resize(2);
  c.classes = {"premium"};
  c.routes.resize(2);
  fit_matrices(c);
  for (Host& h : c.hosts) {
    h.name = "host";
    h.client_leg = h.client_leg_min = h.client_leg_deviation = h.path = h.connect = Nanos(round);
    h.samples = round;
    h.measured_at = h.calibrated_at = Moment(Nanos(round));
  }
  for (Rtt& r : c.rtt)
    r = {Nanos(round), round, Rtt::Source::Measured, Moment(Nanos(round))};
  for (Route& r : c.routes) {
    r.requests = round;
    r.n_serial_mean = r.n_serial_median = r.n_serial_p90 = static_cast<double>(round);
  }
  c.shares = {static_cast<double>(round % 1000) / 1000, 1 - static_cast<double>(round % 1000) / 1000};
  return c;
}

// Every record is of one round.
bool is_whole(const Contents& c) {
  for (const Host& h : c.hosts) {
    const auto leg = h.client_leg;
    if (h.client_leg_min != leg || h.client_leg_deviation != leg || h.path != leg || h.connect != leg)
      return false;
    if (h.samples != static_cast<std::uint64_t>(leg.count()) || h.measured_at != Moment(leg)) return false;
    if (h.calibrated_at != Moment(leg)) return false;
  }
  for (const Rtt& r : c.rtt)
    if (r.samples != static_cast<std::uint64_t>(r.estimate.count()) || r.measured_at != Moment(r.estimate))
      return false;
  for (const Route& r : c.routes)
    if (r.n_serial_mean != r.n_serial_p90 || r.n_serial_mean != static_cast<double>(r.requests)) return false;
  return std::abs(c.shares[0] + c.shares[1] - 1) < 1e-9;
}

TEST(ProfileUnderAHammeringWriter, HasNoTornRecord) {
  constexpr std::uint64_t kReadingsWanted = 2000;
  const Capacities capacities{2, 2, 1, 2};
  std::vector<std::uint64_t> words(Layout::of(capacities).file_size / 8);
  const auto memory = std::as_writable_bytes(std::span(words));
  Publisher publisher(memory, capacities, {});
  publisher.publish(of_round(1), {});
  const auto header = read_header(memory, memory.size());
  ASSERT_TRUE(header);
  std::atomic<int> readers_left{2};
  std::atomic<std::uint64_t> torn{0}, failed{0};
  std::vector<std::thread> readers;
  for (int i = 0; i < 2; ++i)
    readers.emplace_back([&] {
      MappedRecords records(memory);
      for (std::uint64_t good = 0; good < kReadingsWanted && failed < 1'000'000;) {
        const auto profile = read_profile(records, *header);
        if (!profile) {  // one processor may hold both, the writer being within a record: that is reported
          if (profile.error().code != ProfileErrc::Busy) ++torn;
          ++failed;
          std::this_thread::yield();
          continue;
        }
        ++good;
        if (!is_whole(profile->contents)) ++torn;
      }
      --readers_left;
    });
  for (std::uint64_t round = 2; readers_left > 0; ++round)
    publisher.publish(of_round(round), {});
  for (std::thread& reader : readers)
    reader.join();
  EXPECT_EQ(torn, 0u);
  EXPECT_LT(failed, 1'000'000u);
}

// The same with a shape that changes each time: indexes of one reading belong together.
TEST(ProfileUnderAHammeringWriter, HasOneShapePerReading) {
  const Capacities capacities{4, 1, 1, 1};
  std::vector<std::uint64_t> words(Layout::of(capacities).file_size / 8);
  const auto memory = std::as_writable_bytes(std::span(words));
  Publisher publisher(memory, capacities, {});
  const auto named = [](std::uint64_t round) {
    Contents c;
    c.hosts.resize(1 + round % 4);
    for (Host& h : c.hosts)
      h.name = std::to_string(round);
    return c;
  };
  publisher.publish(named(1), {});
  const auto header = read_header(memory, memory.size());
  ASSERT_TRUE(header);
  std::atomic<bool> done{false};
  std::uint64_t mixed = 0;
  std::thread reader([&] {
    MappedRecords records(memory);
    int good = 0;
    for (int tries = 0; good < 500 && tries < 1'000'000; ++tries) {
      const auto profile = read_profile(records, *header);
      if (!profile) {
        std::this_thread::yield();
        continue;
      }
      ++good;
      const auto& hosts = profile->contents.hosts;
      const std::uint64_t round = std::stoull(hosts.front().name);
      if (hosts.size() != 1 + round % 4) ++mixed;
      for (const Host& h : hosts)
        if (h.name != hosts.front().name) ++mixed;
    }
    EXPECT_GT(good, 0);
    done = true;
  });
  for (std::uint64_t round = 2; !done; ++round) {
    publisher.publish(named(round), {});
    std::this_thread::yield();
  }
  reader.join();
  EXPECT_EQ(mixed, 0u);
}

}  // namespace
}  // namespace sluice::profile
