#include "profile/json.h"

#include <gtest/gtest.h>

#include "profile/profile_error.h"
#include "tests/profile/sample.h"

namespace sluice::profile {
namespace {

using namespace std::chrono_literals;

Profile sample_profile() {
  Profile profile;
  profile.publication = {77, 12, 4711, Moment{100s}, Moment{9000s}, Moment{8999s}, 1s, false};
  profile.contents = sample_contents();
  return profile;
}

TEST(ProfileJson, IsReadBackByItsAges) {
  const Profile profile = sample_profile();
  const Moment now{10000s};
  const auto back = from_json(to_json(profile, now), now);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->publication, profile.publication);
  EXPECT_EQ(back->contents, profile.contents);
}

TEST(ProfileJson, CarriesAgesToAnotherClock) {
  const std::string text = to_json(sample_profile(), Moment{10000s});
  const auto back = from_json(text, Moment{50000s});
  ASSERT_TRUE(back);
  EXPECT_EQ(Moment{50000s} - back->publication.contents_at, 1001s);
  EXPECT_EQ(Moment{50000s} - back->contents.hosts[0].measured_at, 10000s - 1006s);
}

TEST(ProfileJson, TellsWhatWasNeverMeasuredAsNull) {
  Profile profile = sample_profile();
  profile.contents.hosts[0].measured_at = {};
  profile.contents.rtt[0] = {};
  profile.contents.residuals[0] = {};
  const auto back = from_json(to_json(profile, Moment{10000s}), Moment{10000s});
  ASSERT_TRUE(back);
  EXPECT_EQ(back->contents, profile.contents);
}

TEST(ProfileJson, KeepsCountsWhole) {
  Profile profile = sample_profile();
  profile.publication.generation = 0xF60005D21DBA0000;
  profile.contents.routes[0].requests = UINT64_MAX;
  const auto back = from_json(to_json(profile, Moment{10000s}), Moment{10000s});
  ASSERT_TRUE(back);
  EXPECT_EQ(back->publication, profile.publication);
  EXPECT_EQ(back->contents, profile.contents);
}

// The segment of a writer that died before the machine was started again has moments of another clock.
TEST(ProfileJson, DoesNotMakeAWriterYoungWhoseHeartbeatIsYetToCome) {
  Profile profile = sample_profile();
  const Moment now = profile.publication.heartbeat - 1h;
  ASSERT_EQ(writer_state(profile.publication, now), WriterState::Dead);
  const auto back = from_json(to_json(profile, now), now);
  ASSERT_TRUE(back);
  EXPECT_EQ(writer_state(back->publication, now), WriterState::Dead);
}

TEST(ProfileJson, ReplacesWhatIsNoUtf8) {
  Profile profile = sample_profile();
  profile.contents.routes[0].name = "/\xFF";
  EXPECT_NE(to_json(profile, Moment{1h}).find("/\xEF\xBF\xBD"), std::string::npos);
}

TEST(ProfileJson, IsRefusedCutAnywhere) {
  const std::string text = to_json(sample_profile(), Moment{1h});
  for (std::size_t size = 0; size < text.size(); size += 7) {
    const auto back = from_json(std::string_view(text).substr(0, size), Moment{1h});
    ASSERT_FALSE(back);
    EXPECT_EQ(back.error().code, ProfileErrc::Malformed);
  }
}

TEST(ProfileJson, OfAnybodyHurtsNobody) {
  for (
      const char* const text :
      {"[]", "7", "null", R"({"hosts":[]})", R"({"publication":7})",
       R"({"publication":{},"hosts":7,"rtt":[7,[8]]})",
       R"({"publication":{"generation":-1,"interval_ms":1e300,"heartbeat_age_ms":1e300},"hosts":[7,{"name":8}],)"
       R"("servers":[{"median_ns":1e300,"samples":18446744073709551615}],"rtt":[[null,null,null],[7],{},[]],)"
       R"("classes":[7],"shares":[["x"],[1e300]],"routes":[{"n_serial_p90":"7","untraced_share":-5}]})"}) {
    const auto profile = from_json(text, Moment{1h});
    EXPECT_TRUE(!profile || is_consistent(profile->contents)) << text;
  }
}

TEST(ProfileJson, MayNotAskForMatricesBeyondMeasure) {
  std::string list = "[";
  for (int i = 0; i < 3000; ++i)
    list += (i > 0 ? ",0" : "0");
  list += "]";
  const auto profile =
      from_json(R"({"publication":{},"hosts":)" + list + R"(,"servers":)" + list + "}", Moment{1h});
  ASSERT_FALSE(profile);
  EXPECT_EQ(profile.error().code, ProfileErrc::Malformed);
}

}  // namespace
}  // namespace sluice::profile
