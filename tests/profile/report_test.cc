#include "profile/report.h"

#include <gtest/gtest.h>

#include "tests/profile/sample.h"

namespace sluice::profile {
namespace {

using namespace std::chrono_literals;

Profile sample() {
  Profile p;
  p.publication = {77, 12, 4711, Moment{100s}, Moment{9999500ms}, Moment{9999s}, 1s, false};
  p.contents = sample_contents();
  p.contents.hosts[0].client_leg = 204us;
  p.contents.rtt[0].estimate = 1512us;
  p.contents.residuals[0].residual = -131us;
  return p;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(ProfileReport, TellsWhoWritesAndWhetherItLives) {
  Profile p = sample();
  EXPECT_TRUE(has(report(p, Moment{10000s}), "process 4711, alive, last heartbeat 0.5 s ago, one each 1 s"));
  EXPECT_TRUE(has(report(p, Moment{10000s}), "generation 77, publication 12, contents 1.0 s old"));
  EXPECT_TRUE(has(report(p, Moment{10300s}), "dead, last heartbeat 5 min ago"));
  p.publication.closed = true;
  EXPECT_TRUE(has(report(p, Moment{10000s}), "closed"));
}

TEST(ProfileReport, ShowsEveryTable) {
  const std::string text = report(sample(), Moment{10000s});
  for (const char* const part :
       {"HOST", "compute-a", "0.204", "SERVER", "primary", "RTT ms", "1.512", "SHARE OF CLASS", "freemium",
        "75%", "ROUTE", "articles#show", "RESIDUAL ms", "-0.131", "* from the calibration"})
    EXPECT_TRUE(has(text, part)) << part << "\n" << text;
}

TEST(ProfileReport, ShowsWhatIsNotKnownAsADash) {
  Profile p = sample();
  p.contents.hosts[0].samples = 0;
  p.contents.hosts[0].measured_at = {};
  p.contents.rtt.assign(p.contents.rtt.size(), {});
  p.contents.residuals.assign(p.contents.residuals.size(), {});
  const std::string text = report(p, Moment{10000s});
  EXPECT_TRUE(has(text, "never"));
  EXPECT_FALSE(has(text, "RESIDUAL"));
  EXPECT_FALSE(has(text, "0.204"));
}

TEST(ProfileReport, LetsNoNameSpeakToTheTerminal) {
  Profile p = sample();
  p.contents.routes[0].name = "/\x1b[2J";
  EXPECT_TRUE(has(report(p, Moment{10000s}), "/?[2J"));
}

TEST(ProfileReport, OfNothingIsShort) {
  EXPECT_TRUE(has(report({}, Moment{10000s}), "dead, last heartbeat never ago"));
}

}  // namespace
}  // namespace sluice::profile
