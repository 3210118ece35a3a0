#include "router/leg_sampler.h"

#include <string_view>

#include "router/random.h"
#include "router/session.h"

namespace sluice::router {
namespace {

using namespace std::chrono_literals;

constexpr auto kRound = 1s;
constexpr auto kYoung = 60s;

}  // namespace

// Vitter's Algorithm R per host ("Random Sampling with a Reservoir", 1985).
void LegSampler::begin_round(const Sessions& sessions) {
  struct Reservoir {
    std::vector<std::uint64_t> ids;
    std::uint32_t seen = 0;
  };
  std::unordered_map<std::string_view, Reservoir> by_host;
  for (const auto& [id, session] : sessions) {
    if (session->tag().host.empty() || session->console()) continue;
    Reservoir& reservoir = by_host[session->tag().host];
    ++reservoir.seen;
    if (reservoir.ids.size() < kPerHost) {
      reservoir.ids.push_back(id);
    } else if (const std::uint32_t at = random_u32() % reservoir.seen; at < kPerHost) {
      reservoir.ids[at] = id;
    }
  }
  for (const auto& [host, reservoir] : by_host)
    left_.insert(left_.end(), reservoir.ids.begin(), reservoir.ids.end());
}

ClientLegs::Batch LegSampler::tick(const Sessions& sessions, std::chrono::steady_clock::time_point now) {
  if (left_.empty() && now - began_ >= kRound) {
    began_ = now;
    begin_round(sessions);
  }
  ClientLegs::Batch batch;
  for (std::size_t looks = 0; looks < kPerTick && !left_.empty(); ++looks) {
    const auto found = sessions.find(left_.back());
    left_.pop_back();
    if (found == sessions.end()) continue;
    Session& session = *found->second;
    const auto measured = session.take_round_trip();
    if (!measured) continue;
    batch.emplace_back(session.tag().host, LegReading{measured->minimum, measured->smoothed,
                                                      measured->deviation, now, session.age() < kYoung});
  }
  return batch;
}

}  // namespace sluice::router
