#include "router/weight_holder.h"

#include <gtest/gtest.h>

#include "router/telemetry_names.h"
#include "telemetry/registry.h"
#include "tests/config/loading.h"
#include "tests/router/admission_fixture.h"

namespace sluice::router {
namespace {

using std::chrono::milliseconds;

// A table with two classes, metrics as its threads would write them, and sessions that come and go.
class WeightHolderTest : public testing::Test {
 protected:
  static std::shared_ptr<const config::Config> config_with(const std::string& more) {
    const config::LoadOutcome outcome = config::Loading().load_with("policy: proportional\n" + more);
    EXPECT_TRUE(outcome.config) << config::text_of(outcome.problems);
    return outcome.config;
  }
  void configure(const std::string& more) {
    const auto config = config_with(more);
    admission_.reconfigure(config::pool_config(*config), {});
    holder_.configure(*config, admission_);
  }
  double weight() const { return admission_.snapshot().classes.front().params.weight.value(); }
  // Answers of both classes, and as many sessions that end.
  void serve(milliseconds premium, milliseconds freemium, int count = 60) {
    for (int i = 0; i < count; ++i) {
      metrics_.record(telemetry::metric::response_seconds, premium, policy::ClassId(0),
                      telemetry::PoolLabel::mixed());
      metrics_.record(telemetry::metric::response_seconds, freemium, policy::ClassId(1),
                      telemetry::PoolLabel::mixed());
      SessionTag tag;
      tag.priority = policy::ClassId(i % 2 == 0 ? 0 : 1);
      const auto slot = test::granted_at_once(admission_, tag);
      ASSERT_TRUE(slot);
      admission_.close(*slot);
    }
  }
  void look() { holder_.look(registry_.read(), admission_); }

  std::shared_ptr<const config::Config> config_ = config_with("");
  Admission admission_{config::pool_config(*config_), {}};
  TelemetryNames names_;
  telemetry::Registry registry_{names_.update(*config_, admission_)};
  telemetry::ThreadMetrics& metrics_ = registry_.add_thread();
  WeightHolder holder_;
};

TEST_F(WeightHolderTest, DoesNothingWithoutATarget) {
  configure("");
  EXPECT_FALSE(holder_.holds());
  EXPECT_EQ(weight(), 2) << "that of the usual classes";
  serve(milliseconds(90), milliseconds(100));
  look();
  look();
  EXPECT_EQ(weight(), 2);
}

TEST_F(WeightHolderTest, MovesTheWeightByWhatWasMeasuredSinceTheLastMove) {
  configure("weight_target: \"median:0.5\"\n");
  EXPECT_TRUE(holder_.holds());
  look();  // from here on
  serve(milliseconds(90), milliseconds(100));
  look();
  const double raised = weight();
  EXPECT_GT(raised, 2);
  look();
  EXPECT_EQ(weight(), raised) << "nothing new has been seen";
  serve(milliseconds(20), milliseconds(100));
  look();
  EXPECT_LT(weight(), raised);
}

TEST_F(WeightHolderTest, AReloadKeepsWhatWasFoundAsLongAsTheTargetStays) {
  configure("weight_target: \"median:0.5\"\n");
  look();
  serve(milliseconds(90), milliseconds(100));
  look();
  const double found = weight();
  EXPECT_GT(found, 2);
  configure("weight_target: \"median:0.5\"\nnearest_slack: 3\n");
  EXPECT_EQ(weight(), found);
  configure("weight_target: \"median:0.6\"\n");
  EXPECT_EQ(weight(), 2) << "another target begins anew";
  configure("weight_target: \"median:0.6\"\nweight_limit: 1.5\n");
  EXPECT_EQ(weight(), 1.5);
  holder_.configure(*config::Loading().load_with("policy: plb\n").config, admission_);
  EXPECT_FALSE(holder_.holds());
}

TEST_F(WeightHolderTest, NeverPassesItsLimit) {
  configure("weight_target: \"median:0.01\"\nweight_limit: 3\n");
  look();
  for (int i = 0; i < 40; ++i) {
    serve(milliseconds(100), milliseconds(100));
    look();
    EXPECT_LE(weight(), 3);
  }
  EXPECT_EQ(weight(), 3);
}

}  // namespace
}  // namespace sluice::router
