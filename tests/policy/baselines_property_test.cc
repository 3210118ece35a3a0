#include <algorithm>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "sluice/policy/assignment.h"

#include "tests/policy/history.h"

namespace sluice::policy {
namespace {

// What the rule of each baseline says, on plain vectors: index -> replica, class.
struct Model {
  explicit Model(const PoolConfig& config)
      : pool(config.replicas.size(), -1), loads(config.replicas.size(), 0) {
    std::size_t r = 0;
    for (std::size_t c = 0; c < config.classes.size(); ++c)
      for (std::int64_t i = 0; i < config.classes[c].target && r < pool.size(); ++i)
        pool[r++] = static_cast<int>(c);
    live.assign(pool.size(), true);
    excluded.assign(pool.size(), false);
  }

  std::vector<std::size_t> candidates(int of_pool) const {
    std::vector<std::size_t> out;
    for (std::size_t r = 0; r < pool.size(); ++r)
      if (live[r] && !excluded[r] && (of_pool < 0 || pool[r] == of_pool)) out.push_back(r);
    return out;
  }

  std::size_t least_loaded() const {
    const auto all = candidates(-1);
    return *std::min_element(all.begin(), all.end(), [&](auto a, auto b) { return loads[a] < loads[b]; });
  }

  // The next after the one that had the last turn; the first if there is none after it.
  static std::size_t next(const std::vector<std::size_t>& of, std::map<int, std::size_t>& last, int who) {
    const auto had = last.find(who);
    auto turn = of.front();
    if (had != last.end())
      for (const std::size_t r : of)
        if (r > had->second) {
          turn = r;
          break;
        }
    last[who] = turn;
    return turn;
  }

  std::vector<int> pool;  // class, -1 = mixed
  std::vector<long> loads;
  std::vector<bool> live, excluded;
  std::map<int, std::size_t> last_turn;
};

void play(PolicyKind kind, std::uint64_t seed) {
  Rng rng(seed);
  PoolConfig config = random_config(2 + seed % 3, 1 + seed % 12, rng);
  config.policy = kind;
  Assignment assignment(config);
  Model model(config);
  std::vector<std::pair<ReplicaId, ClassId>> open;
  for (int step = 0; step < 300; ++step) {
    SCOPED_TRACE("step " + std::to_string(step));
    const std::size_t touched = rng.below(model.pool.size());
    const ReplicaId touched_id(static_cast<std::uint32_t>(touched));
    if (rng.below(8) == 0) {
      model.live[touched] = !model.live[touched];
      assignment.set_up(touched_id, model.live[touched]);
      continue;
    }
    if (!open.empty() && rng.below(3) == 0) {
      const auto leaving = open.begin() + static_cast<std::ptrdiff_t>(rng.below(open.size()));
      assignment.close(leaving->first, leaving->second);
      --model.loads[leaving->first.value()];
      open.erase(leaving);
      continue;
    }
    model.excluded.assign(model.pool.size(), false);
    std::vector<ReplicaId> excluded;
    if (rng.below(4) == 0) {
      model.excluded[touched] = true;
      excluded.push_back(touched_id);
    }
    const auto c = static_cast<int>(rng.below(config.classes.size()));
    const ClassId session_class(static_cast<std::uint32_t>(c));
    const Decision d = assignment.admit({session_class, "", std::nullopt}, excluded);
    ASSERT_TRUE(d.changes.empty());
    const auto any = model.candidates(-1);
    const auto own = model.candidates(c);
    if (any.empty()) {
      ASSERT_EQ(d.outcome, Outcome::Refused);
      continue;
    }
    const bool elsewhere = kind == PolicyKind::Dedicated && own.empty();
    ASSERT_EQ(d.outcome, elsewhere ? Outcome::FallbackAny : Outcome::Own);
    const std::size_t got = d.replica.value();
    ASSERT_TRUE(std::find(any.begin(), any.end(), got) != any.end());
    if (kind == PolicyKind::RoundRobin) {
      ASSERT_EQ(got, Model::next(any, model.last_turn, -1));
    } else if (kind == PolicyKind::Dedicated && !elsewhere) {
      ASSERT_EQ(got, Model::next(own, model.last_turn, c));
    } else if (kind == PolicyKind::LeastLoaded || elsewhere) {
      ASSERT_EQ(got, model.least_loaded());
    } else if (any.size() > 1) {  // of two, so never strictly the most loaded
      const auto more =
          std::count_if(any.begin(), any.end(), [&](auto r) { return model.loads[r] >= model.loads[got]; });
      ASSERT_GE(more, 2);
    }
    ++model.loads[got];
    open.emplace_back(d.replica, d.counted_in);
    ASSERT_EQ(assignment.pools().total_load(d.replica), model.loads[got]);
  }
}

TEST(BaselinesProperty, FollowTheirRulesWhileReplicasFailAndSessionsRetry) {
  for (const auto kind :
       {PolicyKind::RoundRobin, PolicyKind::LeastLoaded, PolicyKind::Dedicated, PolicyKind::RandomTwoChoices})
    for (const auto seed : seeds(100)) {
      SCOPED_TRACE(std::string(policy_name(kind)) + " SLUICE_SEED=" + std::to_string(seed));
      play(kind, seed);
      if (testing::Test::HasFatalFailure()) return;
    }
}

}  // namespace
}  // namespace sluice::policy
