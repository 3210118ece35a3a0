#include <cmath>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/what_if.h"
#include "tests/config/loading.h"
#include "tests/sim/traces.h"

namespace sluice::sim {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Four replicas of two cores for an offered load of about 0.8.
MadeLoad busy_load(policy::PolicyKind kind) {
  MadeLoad load;
  load.config = two_classes(kind);
  load.cores = 2;
  load.sessions = 1'500;
  load.gap_mean = 0.7;
  return load;
}

ReplayPlan plan_for(const policy::PoolConfig& config, double cores) {
  ReplayPlan plan;
  plan.config = config;
  plan.cores = cores;
  return plan;
}

TEST(RecordedTrace, ComesBackFromAFile) {
  const RecordedTrace made = made_trace(busy_load(policy::PolicyKind::Plb));
  const LoadedTrace back = loaded(file_of(made));
  ASSERT_EQ(back.problem, "");
  EXPECT_FALSE(back.trace.damage);
  EXPECT_EQ(back.trace.guests.size(), made.guests.size());
  EXPECT_EQ(back.trace.query_count, made.query_count);
  EXPECT_EQ(back.trace.unended, 0U);
  EXPECT_EQ(decide::config_line(back.trace.config), decide::config_line(made.config));
  for (std::size_t g = 0; g < made.guests.size(); ++g) {
    const RecordedGuest &a = made.guests[g], &b = back.trace.guests[g];
    EXPECT_NEAR(a.at, b.at, 1e-6);
    EXPECT_EQ(a.session_class, b.session_class);
    EXPECT_EQ(a.replica, b.replica);
    EXPECT_NEAR(a.tail, b.tail, 1e-5 * static_cast<double>(a.queries.size() + 1));
    ASSERT_EQ(a.queries.size(), b.queries.size());
  }
}

TEST(RecordedTrace, UsesWhatIsBeforeTheDamage) {
  const std::string file = file_of(made_trace(busy_load(policy::PolicyKind::Plb)));
  const LoadedTrace whole = loaded(file), half = loaded(file.substr(0, file.size() / 2));
  ASSERT_EQ(half.problem, "");
  ASSERT_TRUE(half.trace.damage);
  EXPECT_NEAR(static_cast<double>(half.trace.damage->byte), static_cast<double>(file.size()) / 2, 4'000);
  EXPECT_NEAR(static_cast<double>(half.trace.guests.size()),
              static_cast<double>(whole.trace.guests.size()) / 2, 100);
}

TEST(RecordedTrace, NeedsAConfigurationAndAnAdmission) {
  recording::TraceWriter writer;
  writer.begin_file(0);
  writer.add(recording::End{1, recording::Offset(1)});
  writer.flush();
  const Bytes nothing = writer.take();
  EXPECT_EQ(loaded(std::string(as_text(nothing))).problem, "it holds no configuration");
  writer.begin_file(0);
  writer.add(recording::Configuration{recording::Offset(0),
                                      decide::config_line(two_classes(policy::PolicyKind::Plb))});
  writer.flush();
  const Bytes empty = writer.take();
  EXPECT_EQ(loaded(std::string(as_text(empty))).problem, "it holds no admission");
  writer.begin_file(0);
  writer.add(recording::Configuration{recording::Offset(0), R"({"op":"down","replica":"r"})"});
  writer.add(recording::Configuration{recording::Offset(0), "{"});
  writer.flush();
  const Bytes other = writer.take();
  EXPECT_EQ(loaded(std::string(as_text(other))).problem, "its configuration is another event");
}

// A file with a configuration, one session and these records.
std::string file_with(const std::vector<recording::Record>& more) {
  recording::TraceWriter writer;
  writer.begin_file(0);
  writer.add(recording::Configuration{recording::Offset(0),
                                      decide::config_line(two_classes(policy::PolicyKind::Plb))});
  recording::Admission admission;
  admission.replica = 0;
  writer.add(admission);
  for (const recording::Record& record : more)
    writer.add(record);
  writer.flush();
  const Bytes bytes = writer.take();
  return std::string(as_text(bytes));
}

TEST(RecordedTrace, KeepsABoundedNumberOfTheNamesThatItUses) {
  std::vector<recording::Record> users, replicas;
  for (recording::NameId id = 0; id < 20'000; ++id) {
    users.push_back(recording::Name{recording::NameKind::User, id, "u"});
    replicas.push_back(recording::Name{recording::NameKind::Replica, id, "r"});
  }
  EXPECT_EQ(loaded(file_with(users)).problem, "");
  EXPECT_EQ(loaded(file_with(replicas)).problem, "it names more than 10000 classes or replicas");
}

TEST(RecordedTrace, RefusesMoreTimeThanCanBeCounted) {
  const auto year = recording::kSpanMax;
  const auto with = [&](std::size_t queries) {
    recording::Queries all{0, {}};
    all.queries.assign(queries, {year, year});
    return loaded(file_with({all})).problem;
  };
  EXPECT_EQ(with(50), "");
  EXPECT_EQ(with(100), "its pauses and queries add up to more than 4000000000 s");
  recording::Whole whole;
  whole.replica = 0;
  whole.queries.assign(100, {year, year});
  EXPECT_EQ(loaded(file_with({whole})).problem, with(100));
}

TEST(RecordedTrace, TakesAWholeOneAsItsPieces) {
  using namespace recording;
  const auto us = [](int count) { return std::chrono::microseconds(count); };
  const Queries queries{1, {{us(5), us(70)}, {us(1), us(30)}}};
  Admission admission{1, Offset(1'000), us(40), true, 1, 0, {}, {}, {}, us(90)};
  Whole whole{Offset(1'000), us(40), true, 7, 0, us(90), queries.queries, us(9)};
  const Who who{7, 1, std::nullopt, std::nullopt, std::nullopt};
  const std::vector<Record> names = {Name{NameKind::Class, 1, "freemium"},
                                     Name{NameKind::Class, 0, "premium"}, Name{NameKind::Replica, 0, "r2"}};
  const auto with = [&](std::vector<Record> more) {
    more.insert(more.begin(), names.begin(), names.end());
    return loaded(file_with(more)).trace;
  };
  const RecordedTrace pieces = with({admission, queries, End{1, Offset(1'155)}}), one = with({who, whole});
  for (const RecordedTrace* trace : {&pieces, &one}) {
    EXPECT_EQ(trace->duration, 0.001155);
    EXPECT_EQ(trace->query_count, 2U);
    EXPECT_EQ(trace->unended, 1U) << "the session that is in all files";
    EXPECT_EQ(trace->sized, 1U);
    ASSERT_EQ(trace->guests.size(), 2U);
    const RecordedGuest& guest = trace->guests[1];
    EXPECT_EQ(guest.at, 0.001);
    EXPECT_EQ(guest.waited, 0.00004);
    EXPECT_EQ(guest.session_class, 1U);
    EXPECT_EQ(guest.replica, 1U);
    EXPECT_EQ(guest.queries.size(), 2U);
    EXPECT_NEAR(guest.tail, 9e-6, 1e-12);
    EXPECT_EQ(guest.expected_size, 90e-6);
  }
  whole.who = 8;
  EXPECT_EQ(with({who, whole}).guests[1].session_class, 1U) << "of nobody that is known: the lowest";
  whole.replica.reset();
  EXPECT_EQ(with({who, whole}).refused, 1U);
}

TEST(RecordedTrace, IsCutShortWhereItIsLong) {
  const std::string file = file_of(made_trace(busy_load(policy::PolicyKind::Plb)));
  std::istringstream in(file);
  recording::TraceReader reader(in);
  const RecordedTrace trace = load_trace(reader, 100).trace;
  EXPECT_TRUE(trace.cut_short);
  EXPECT_EQ(trace.guests.size(), 100U);
  EXPECT_FALSE(loaded(file).trace.cut_short);
}

TEST(Demands, AreTheResponsesWhereCoresDoNotEnd) {
  const RecordedTrace made = made_sessions(busy_load(policy::PolicyKind::Plb));
  const Demands of = demands(made, kInfinity);
  EXPECT_EQ(of.of[7][0], made.guests[7].queries[0].response);
}

// What was asked for comes out of what was recorded, whatever the company.
TEST(Demands, AreFoundFromTheResponses) {
  const MadeLoad load = busy_load(policy::PolicyKind::LeastLoaded);
  const RecordedTrace asked = made_sessions(load), recorded = made_trace(load);
  const Demands found = demands(recorded, load.cores);
  double slower = 0, queries = 0;
  for (std::size_t g = 0; g < asked.guests.size(); ++g)
    for (std::size_t q = 0; q < asked.guests[g].queries.size(); ++q) {
      EXPECT_NEAR(found.of[g][q], asked.guests[g].queries[q].response, 1e-6);
      slower += recorded.guests[g].queries[q].response / asked.guests[g].queries[q].response;
      ++queries;
    }
  EXPECT_GT(slower / queries, 1.3) << "there was company to speak of";
}

TEST(Demands, TheNumberOfCoresIsEstimated) {
  for (const double cores : {1.0, 2.0, 8.0}) {
    MadeLoad load = busy_load(policy::PolicyKind::LeastLoaded);
    load.cores = cores;
    load.gap_mean = 1.4 / cores;
    load.sessions = 3'000;
    const double found = estimate_cores(made_trace(load));
    EXPECT_GE(found, cores / 1.5) << cores;
    EXPECT_LE(found, cores * 1.5) << cores;
  }
  MadeLoad idle = busy_load(policy::PolicyKind::LeastLoaded);
  idle.cores = 1'000;
  EXPECT_EQ(estimate_cores(made_trace(idle)), kInfinity);
}

// The self-check: whatever the policy was, a replay from the file gives the recorded medians.
TEST(Replay, GivesWhatWasRecorded) {
  for (const auto kind :
       {policy::PolicyKind::Plb, policy::PolicyKind::Proportional, policy::PolicyKind::Dedicated,
        policy::PolicyKind::RoundRobin, policy::PolicyKind::LeastLoaded}) {
    SCOPED_TRACE(policy::policy_name(kind));
    const RecordedTrace trace = loaded(file_of(made_trace(busy_load(kind)))).trace;
    const double cores = estimate_cores(trace);
    const ReplayOutcome again = replay(trace, demands(trace, cores), plan_for(trace.config, cores));
    const ReplayCheck check = check_replay(recorded_outcome(trace), again, 0.02);
    ASSERT_EQ(check.rows.size(), 2U);
    EXPECT_TRUE(check.passes) << check_table(check).text();
  }
}

TEST(Replay, TheCheckFailsWhereTheModelIsWrong) {
  const RecordedTrace trace = made_trace(busy_load(policy::PolicyKind::LeastLoaded));
  Demands wrong = demands(trace, kInfinity);  // and then shared again
  const ReplayOutcome again = replay(trace, wrong, plan_for(trace.config, 2));
  EXPECT_FALSE(check_replay(recorded_outcome(trace), again, 0.1).passes);
}

// From a recording under one policy, what another would have done: against the truth, which is simulated from
// the sessions themselves.
TEST(Replay, ForetellsAnotherPolicy) {
  const MadeLoad load = busy_load(policy::PolicyKind::LeastLoaded);
  const RecordedTrace trace = loaded(file_of(made_trace(load))).trace;
  const double cores = estimate_cores(trace);
  const Demands asked = demands(trace, cores);
  policy::PoolConfig other = load.config;
  other.policy = policy::PolicyKind::Proportional;
  other.classes[0].weight = *Weight::parse("3");
  const RecordedTrace sessions = made_sessions(load);
  const ReplayOutcome truth = replay(sessions, demands(sessions, kInfinity), plan_for(other, load.cores));
  const ReplayOutcome foretold = replay(trace, asked, plan_for(other, cores));
  for (std::size_t c = 0; c < 2; ++c) {
    EXPECT_NEAR(foretold.classes[c].mean / truth.classes[c].mean, 1, 0.05) << c;
    EXPECT_NEAR(foretold.classes[c].median / truth.classes[c].median, 1, 0.05) << c;
  }
  EXPECT_LT(truth.classes[0].mean, 0.95 * recorded_outcome(trace).classes[0].mean) << "it is another policy";
}

TEST(Replay, MoreLoadIsSlowerAndMoreReplicasAreQuicker) {
  const RecordedTrace trace = made_trace(busy_load(policy::PolicyKind::LeastLoaded));
  const Demands asked = demands(trace, 2);
  WhatIf what;
  what.loads = {0.5, 1, 1.5};
  what.replica_counts = {3, 4, 6};
  const ReplayPlans plans = plans_of(trace, 2, what);
  ASSERT_EQ(plans.problem, "");
  ASSERT_EQ(plans.plans.size(), 9U);
  std::vector<double> means;
  for (const ReplayPlan& plan : plans.plans)
    means.push_back(replay(trace, asked, plan).classes.back().mean);
  for (std::size_t r = 0; r < 3; ++r)
    for (std::size_t l = 0; l < 3; ++l) {
      if (l > 0) {
        EXPECT_GT(means[3 * r + l], means[3 * r + l - 1]);
      }
      if (r > 0) {
        EXPECT_LT(means[3 * r + l], means[3 * (r - 1) + l]);
      }
    }
  EXPECT_EQ(plans.plans[0].name, "least_loaded, 3 replicas, load 0.5");
}

// Behind a limit guests wait in the router's own queue: Premium first.
TEST(Replay, BehindALimitTheHighestClassWaitsLeast) {
  const RecordedTrace trace = made_trace(busy_load(policy::PolicyKind::LeastLoaded));
  WhatIf what;
  what.max_active = {6};
  const ReplayPlans plans = plans_of(trace, 2, what);
  const ReplayOutcome out = replay(trace, demands(trace, 2), plans.plans.front());
  EXPECT_EQ(out.classes[2].guests, trace.guests.size()) << "nobody is lost";
  EXPECT_GT(out.classes[1].waiting_mean, 0.05);
  EXPECT_LT(out.classes[0].waiting_mean, out.classes[1].waiting_mean);
}

// The same with few slots and sessions that differ widely; the router knew what each would ask for.
MadeLoad sized_load() {
  MadeLoad load = busy_load(policy::PolicyKind::LeastLoaded);
  for (policy::ReplicaConfig& r : load.config.replicas)
    r.max_active = 2;
  load.gap_mean = 0.7;
  load.pause_mean = 0.1;
  load.sized = true;
  return load;
}

double wait_of(const RecordedTrace& trace, const ReplayPlan& plan) {
  return replay(trace, demands(trace, plan.cores), plan).classes.back().waiting_mean;
}

TEST(RecordedTrace, HoldsExpectedSizesAndTheQueue) {
  MadeLoad load = sized_load();
  load.queue = {.discipline = policy::QueueDiscipline::ShortestFirst, .ageing = std::chrono::seconds(9)};
  const RecordedTrace made = made_trace(load), back = loaded(file_of(made)).trace;
  EXPECT_EQ(back.sized, made.guests.size());
  for (std::size_t g = 0; g < made.guests.size(); ++g)
    EXPECT_NEAR(back.guests[g].expected_size, made.guests[g].expected_size, 1e-6);
  EXPECT_EQ(back.queue.discipline, policy::QueueDiscipline::ShortestFirst);
  EXPECT_EQ(back.queue.ageing, std::chrono::seconds(9));
  EXPECT_FALSE(back.config_changed);
}

// Was: whatever the queue had been, the check took the order of arrival for it.
TEST(Replay, GivesWhatWasRecordedBehindAQueueBySize) {
  MadeLoad load = sized_load();
  load.queue.discipline = policy::QueueDiscipline::ShortestFirst;
  const RecordedTrace trace = loaded(file_of(made_trace(load))).trace;
  ReplayPlan plan = plan_for(trace.config, load.cores);
  plan.queue = trace.queue;
  const double recorded = recorded_outcome(trace).classes.back().waiting_mean;
  EXPECT_GT(recorded, 0.5);
  EXPECT_NEAR(wait_of(trace, plan), recorded, 0.02 * recorded);
  EXPECT_GT(wait_of(trace, plan_for(trace.config, load.cores)), 1.15 * recorded) << "by arrival";
}

TEST(Replay, TheSmallestFirstAndIntervalsGoByWhatWasExpected) {
  const RecordedTrace trace = made_trace(sized_load());
  WhatIf what;
  what.orders = {policy::ReplicaOrder::LeastLoaded, policy::ReplicaOrder::SitaE};
  what.queues = {policy::QueueDiscipline::Fcfs, policy::QueueDiscipline::ShortestFirst};
  const ReplayPlans plans = plans_of(trace, 2, what);
  ASSERT_EQ(plans.problem, "");
  std::vector<std::string> names;
  std::vector<double> waits;
  for (const ReplayPlan& plan : plans.plans) {
    names.push_back(plan.name);
    waits.push_back(wait_of(trace, plan));
  }
  EXPECT_EQ(names,
            (std::vector<std::string>{"least_loaded, fcfs", "least_loaded, shortest_first",
                                      "least_loaded, sita_e, fcfs", "least_loaded, sita_e, shortest_first"}));
  EXPECT_LT(waits[1], 0.9 * waits[0]);
  EXPECT_NE(waits[2], waits[0]);
  EXPECT_LT(waits[3], waits[2]);
  // With nothing expected, sizes that are known from the measurement give the same.
  RecordedTrace unsized = trace;
  for (RecordedGuest& guest : unsized.guests)
    guest.expected_size = 0;
  ReplayPlan shortest = plans.plans[1];
  EXPECT_NEAR(wait_of(unsized, shortest), waits[0], 1e-9) << "all alike: by arrival";
  shortest.sizes = ReplayPlan::Sizes::Measured;
  EXPECT_NEAR(wait_of(unsized, shortest), waits[1], 1e-6);
}

TEST(WhatIf, SaysWhereSizesCannotBeGoneBy) {
  RecordedTrace trace = made_trace(sized_load());
  WhatIf what;
  what.orders = {policy::ReplicaOrder::SitaE};
  const auto problem = [&] { return plans_of(trace, 1, what).problem; };
  EXPECT_EQ(problem(), "");
  what.policies = {policy::PolicyKind::RoundRobin};
  EXPECT_EQ(problem(), "round_robin, sita_e: this policy does not go by size");
  what.policies = {policy::PolicyKind::Plb};
  EXPECT_EQ(problem(), "");
  // As recorded, it is not asked for.
  trace.config.order = policy::ReplicaOrder::SitaE;
  what.policies = {policy::PolicyKind::Plb, policy::PolicyKind::RoundRobin};
  what.orders = {};
  EXPECT_EQ(problem(), "");
  EXPECT_EQ(plans_of(trace, 1, what).plans[1].config.order, policy::ReplicaOrder::LeastLoaded);
  what.policies = {policy::PolicyKind::Plb};
  what.orders = {policy::ReplicaOrder::SitaE};
  trace.sized = 0;
  EXPECT_EQ(problem(),
            "plb, sita_e: the trace holds no expected sizes; record one with size_learning: on, or try "
            "--sizes measured");
  what.sizes = ReplayPlan::Sizes::Measured;
  EXPECT_EQ(problem(), "");
  what = {};
  what.queues = {policy::QueueDiscipline::ShortestFirst};
  EXPECT_NE(problem(), "");
  what = {};
  what.orders = {policy::ReplicaOrder::Nearest};
  EXPECT_EQ(problem(), "least_loaded, nearest: a trace holds no round trips");
}

TEST(Replay, HoldsAWeight) {
  MadeLoad load = busy_load(policy::PolicyKind::Proportional);
  load.sessions = 6'000;
  load.gap_mean = 0.55;
  const RecordedTrace trace = made_trace(load);
  WhatIf what;
  what.hold = policy::WeightTarget::parse("median:0.8");
  const ReplayPlans plans = plans_of(trace, 2, what);
  const ReplayOutcome out = replay(trace, demands(trace, 2), plans.plans.front());
  EXPECT_GT(out.weight, 1.02);
  EXPECT_LT(out.classes[0].median, 0.93 * out.classes[1].median);
}

TEST(Replay, IsTheSameEachTime) {
  const RecordedTrace trace = made_trace(busy_load(policy::PolicyKind::Plb));
  const Demands asked = demands(trace, 2);
  const ReplayPlan plan = plan_for(trace.config, 2);
  EXPECT_EQ(replay_csv({{"a", replay(trace, asked, plan)}}).csv(),
            replay_csv({{"a", replay(trace, asked, plan)}}).csv());
}

TEST(WhatIf, NamesWhatCannotBeTried) {
  RecordedTrace trace;
  trace.config = two_classes(policy::PolicyKind::Plb);
  const auto problem = [&](const std::string& override_text) {
    WhatIf what;
    what.overrides = {override_text};
    return plans_of(trace, 1, what).problem;
  };
  EXPECT_EQ(problem("premium.saturation=20"), "");
  EXPECT_EQ(problem("freemium.return_ratio=0.5"), "");
  EXPECT_EQ(problem("premium.weight=1.5"), "");
  EXPECT_EQ(problem("premium"), "'premium' is not CLASS.PARAMETER=VALUE, as premium.saturation=20");
  EXPECT_EQ(problem("gold.weight=2"), "'gold.weight=2': the trace has no such class");
  EXPECT_EQ(problem("premium.weight=0"), "'premium.weight=0': a weight is a decimal from 0.001 to 1000");
  EXPECT_EQ(problem("premium.colour=2"),
            "'premium.colour=2': parameters are saturation, return_ratio, floor, target and weight");
  EXPECT_EQ(problem("premium.floor=x"), "'premium.floor=x': is not a whole number");
  EXPECT_NE(problem("premium.floor=1"), "");
}

TEST(WhatIf, PrintsAConfigurationToPaste) {
  policy::PoolConfig config = two_classes(policy::PolicyKind::Proportional);
  config.classes[0].weight = *Weight::parse("2.5");
  EXPECT_EQ(yaml_of(config),
            "policy: proportional\nclasses:\n"
            "- {name: \"premium\", saturation: 10, return_ratio: 0.60, floor: 0, target: 1, weight: 2.5}\n"
            "- {name: \"freemium\", saturation: 10, return_ratio: 0.80, floor: 1, target: 1, weight: 1}\n"
            "# No replica has a pool of its own: remove each \"pool\" from the replicas.\n");
  config.replicas[1].pool = "premium";
  EXPECT_TRUE(yaml_of(config).ends_with("#   \"r2\": {pool: \"premium\"}\n")) << yaml_of(config);
}

TEST(WhatIf, PrintsWhatTheRouterTakes) {
  const config::Loading loading;
  for (const auto kind : {policy::PolicyKind::Plb, policy::PolicyKind::Dedicated,
                          policy::PolicyKind::LeastLoaded, policy::PolicyKind::Proportional})
    for (const char* name : {"premium", "no", "7", "*", "[a]", "@b", "%c"}) {
      policy::PoolConfig config = two_classes(kind);
      config.classes[0].name = name;
      config.classes[0].weight = *Weight::parse("2.5");
      config.replicas[0].pool = name;
      std::optional<policy::WeightTarget> hold;
      if (kind == policy::PolicyKind::Proportional) hold = policy::WeightTarget::parse("p95:40ms");
      const std::string yaml = yaml_of(config, hold);
      const config::LoadOutcome back = loading.load_with(yaml);
      ASSERT_TRUE(back.config) << yaml << config::text_of(back.problems);
      EXPECT_EQ(back.config->classes[0].name, name);
      EXPECT_EQ(back.config->classes[0].weight.to_string(), "2.5");
      EXPECT_EQ(back.config->classes[1].return_ratio.to_string(), "0.80");
    }
}

// One after the other, the long ones with the later recorded first: who ends is no company of who begins.
TEST(Demands, HaveNoCompanyOfWhatEndsWhenTheyBegin) {
  RecordedTrace trace;
  trace.config = two_classes(policy::PolicyKind::LeastLoaded, 1);
  const auto add = [&](double at, double response) {
    RecordedGuest& guest = trace.guests.emplace_back();
    guest.at = at;
    guest.replica = 0;
    guest.queries = {{0, response}};
  };
  for (int i = 100; i-- > 0;)
    add(2 * i, 2);
  for (int i = 0; i < 100; ++i)
    add(200 + i, 1);
  EXPECT_EQ(estimate_cores(trace), kInfinity);
}

}  // namespace
}  // namespace sluice::sim
