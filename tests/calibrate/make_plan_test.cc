#include <gtest/gtest.h>

#include "calibrate/failure.h"
#include "calibrate/run.h"

namespace sluice::calibrate {
namespace {

std::shared_ptr<const config::PlacerConfig> configured() {
  const config::PlacerLoadOutcome outcome = config::load_placer_text(
      "compute_hosts:\n"
      "  - {name: a, address: 10.0.0.1, port: 8080}\n"
      "  - {name: b, address: 10.0.0.2, port: 8080, health_path: /up}\n"
      "routes:\n"
      "  - {pattern: /feed, n_serial: 3}\n"
      "  - {pattern: /articles/:id, profile_route: articles#show, target: primary}\n"
      "  - {pattern: /orders, method: POST, n_serial: 5}\n",
      "placer.yaml");
  for (const config::Problem& problem : outcome.problems)
    if (problem.severity == config::Severity::Error) ADD_FAILURE() << to_string(problem);
  return outcome.config;
}

class MakePlan : public testing::Test {
 protected:
  MakePlan() { options_.paths["/articles/:id"] = "/articles/7"; }
  // The plan as people see it, or what is wrong.
  std::string outcome(const profile::Profile* profile = nullptr) const {
    try {
      return describe(make_plan(*config_, options_, profile, profile::Moment(std::chrono::hours(1))));
    } catch (const Failure& e) {
      return e.what();
    }
  }
  std::shared_ptr<const config::PlacerConfig> config_ = configured();
  Options options_;
};

TEST_F(MakePlan, AsksForWhatOnlyReads) {
  options_.samples = 100;
  EXPECT_EQ(outcome(),
            "20 warm-ups and 100 samples of each, 960 requests and connects in all; nothing was sent:\n"
            "  a at 10.0.0.1:8080: connect, GET /health\n"
            "    GET /feed for /feed: N_serial 3, SELECT 1 of a merged file\n"
            "    GET /articles/7 for articles#show: N_serial unknown, SELECT 1 of a merged file\n"
            "  b at 10.0.0.2:8080: connect, GET /up\n"
            "    GET /feed for /feed: N_serial 3, SELECT 1 of a merged file\n"
            "    GET /articles/7 for articles#show: N_serial unknown, SELECT 1 of a merged file\n");
}

TEST_F(MakePlan, TakesSqlAndObservedCallsFromTheProfile) {
  profile::Profile profile;
  profile.contents.hosts.resize(1);
  profile.contents.hosts[0].name = "b";
  profile.contents.servers.resize(1);
  profile.contents.servers[0] = {.name = "p", .role = profile::ServerRole::Primary, .up = true};
  profile.contents.routes.resize(1);
  profile.contents.routes[0].name = "articles#show";
  profile.contents.routes[0].requests = 100;
  profile.contents.routes[0].n_serial_median = 4;
  profile::fit_matrices(profile.contents);
  profile.contents.rtt[0] = {std::chrono::microseconds(231), 50, profile::Rtt::Source::Measured,
                             profile::Moment(std::chrono::hours(1))};
  options_.hosts = {"b"};
  const std::string text = outcome(&profile);
  EXPECT_NE(text.find("articles#show: N_serial 4, SELECT 1 0.231 ms by the profile"), text.npos) << text;
  profile.contents.routes[0].untraced_share = 0.2;
  EXPECT_NE(outcome(&profile).find("articles#show: N_serial unknown"), text.npos);
}

TEST_F(MakePlan, WantsToKnowWhichPageARouteWithParametersMeans) {
  options_.paths.clear();
  EXPECT_EQ(outcome(), "which page is asked for of /articles/:id? Say --request '/articles/:id=/a/path'");
}

TEST_F(MakePlan, RefusesNamesThatTheConfigurationDoesNotHave) {
  options_.paths["/fed"] = "/x";
  EXPECT_EQ(outcome(), "the configuration has no route /fed; did you mean /feed?");
  options_.hosts = {"zebra"};
  EXPECT_EQ(outcome(), "the configuration has no compute host zebra");
}

}  // namespace
}  // namespace sluice::calibrate
