#include "router/past_minute.h"

#include <gtest/gtest.h>

#include "telemetry/registry.h"

namespace sluice::router {
namespace {

using namespace std::chrono_literals;
namespace metric = telemetry::metric;

class PastMinuteTest : public ::testing::Test {
 protected:
  static telemetry::Names two_classes() {
    telemetry::Names names;
    names.classes = {"premium", "freemium"};
    return names;
  }
  void observe(std::uint32_t session_class, std::chrono::milliseconds time) {
    metrics_.record(metric::response_seconds, time, policy::ClassId(session_class),
                    telemetry::PoolLabel::mixed());
  }
  void add(std::chrono::seconds at) { past_.add(PastMinute::TimePoint(1h + at), registry_.read()); }
  std::uint64_t count(std::uint32_t session_class) const {
    return past_.of(policy::ClassId(session_class)).response.count();
  }

  telemetry::Registry registry_{two_classes()};
  telemetry::ThreadMetrics& metrics_ = registry_.add_thread();
  PastMinute past_;
};

TEST_F(PastMinuteTest, HasWhatCameSinceTheFirstLook) {
  observe(0, 5ms);
  add(0s);
  EXPECT_EQ(count(0), 0U);
  observe(0, 7ms);
  observe(1, 7ms);
  observe(1, 7ms);
  add(1s);
  EXPECT_EQ(count(0), 1U);
  EXPECT_EQ(count(1), 2U);
}

TEST_F(PastMinuteTest, ForgetsWhatIsOlder) {
  add(0s);
  observe(0, 5ms);
  for (int second = 1; second <= 62; ++second)
    add(std::chrono::seconds(second));
  EXPECT_EQ(count(0), 1U);  // counted between 0 s and 5 s
  for (int second = 63; second <= 66; ++second)
    add(std::chrono::seconds(second));
  EXPECT_EQ(count(0), 0U);
}

TEST_F(PastMinuteTest, KnowsNothingOfOtherClasses) {
  EXPECT_EQ(count(0), 0U);
  add(0s);
  EXPECT_EQ(count(7), 0U);
}

}  // namespace
}  // namespace sluice::router
