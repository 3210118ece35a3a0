#include "sim/plb_model.h"

#include <algorithm>
#include <cmath>

#include "sluice/stats/comparison.h"
#include "sluice/stats/law.h"
#include "sluice/stats/portable_math.h"
#include "sluice/stats/quantile.h"

#include "base/assert.h"
#include "sim/sharing_server.h"
#include "sim/wait_queue.h"

namespace sluice::sim {
namespace {

constexpr std::size_t kReplicas = 5;

policy::PoolConfig paper_config(policy::PolicyKind kind) {
  policy::PoolConfig config;
  config.policy = kind;
  config.classes = {{"premium", 10, *Ratio::parse("0.60"), 0, 2},
                    {"freemium", 10, *Ratio::parse("0.80"), 1, 2}};
  for (std::size_t i = 0; i < kReplicas; ++i)
    config.replicas.push_back({"r" + std::to_string(i + 1), std::nullopt});
  return config;
}

policy::PoolConfig static_split(std::size_t premium_replicas) {
  policy::PoolConfig config = paper_config(policy::PolicyKind::Dedicated);
  for (std::size_t i = 0; i < kReplicas; ++i)
    config.replicas[i].pool = i < premium_replicas ? "premium" : "freemium";
  return config;
}

double exponential(Rng& rng, double mean) noexcept {
  return -mean * stats::portable::log(1 - rng.unit());
}

struct Session {
  Rng rng;  // its own, so that nothing that happens to others changes what it asks for
  policy::ClassId session_class;
  policy::ReplicaId replica;
  double ends_at = 0;
  double asked_at = 0;  // its query in progress
  bool reads = false;   // that query waits for storage
};

// The run itself: sessions, replicas and what is measured of them.
class Run {
 public:
  Run(const PlbWorkload& workload, const Strategy& strategy)
      : load_(workload),
        demand_(stats::LogNormal::with_mean(workload.demand_mean, workload.demand_cv * workload.demand_cv)),
        assignment_(strategy.config),
        arrivals_(derived_seed(workload.seed, 0)),
        now_share_(workload.premium_share),
        now_sessions_(workload.sessions) {
    if (strategy.hold) held_.emplace(*strategy.hold, strategy.config.classes.front().weight.value());
    for (std::size_t i = 0; i < strategy.config.replicas.size(); ++i)
      replicas_.push_back(std::make_unique<SharingServer>(
          SharingServer::Settings{.cores = workload.cores, .cores_per_job = workload.cores_per_query}));
  }

  PlbOutcome result() {
    plan_arrival();
    while (next_event() < kNever) {
      if (now_ < load_.duration && next_time_ >= load_.duration) measure_utilization();
      now_ = next_time_;
      ++out_.events;
      act();
    }
    if (out_.utilization.empty()) measure_utilization();  // everything ended before the time did
    summarise();
    return std::move(out_);
  }

 private:
  enum class Source { Arrival, Timer, Replica, Look };

  // The next session of a Poisson stream whose rate may change: what has not come by then comes at the new
  // rate, the stream having no memory.
  void plan_arrival() noexcept {
    next_arrival_ += exponential(arrivals_, load_.duration / now_sessions_);
    while (next_phase_ < load_.phases.size() && next_arrival_ >= load_.phases[next_phase_].begins) {
      const PlbWorkload::Phase& phase = load_.phases[next_phase_++];
      now_sessions_ = phase.sessions;
      now_share_ = phase.premium_share;
      next_arrival_ = phase.begins + exponential(arrivals_, load_.duration / now_sessions_);
    }
  }

  // Finds what comes next; replicas before timers before arrivals at the same time.
  double next_event() noexcept {
    next_time_ = kNever;
    for (std::size_t i = 0; i < replicas_.size(); ++i)
      if (const double time = replicas_[i]->next_event(); time < next_time_) {
        next_time_ = time;
        next_source_ = Source::Replica;
        next_replica_ = i;
      }
    if (!timers_.empty() && timers_.least_key() < next_time_) {
      next_time_ = timers_.least_key();
      next_source_ = Source::Timer;
    }
    if (next_arrival_ < next_time_ && next_arrival_ < load_.duration) {
      next_time_ = next_arrival_;
      next_source_ = Source::Arrival;
    }
    if (held_ && next_time_ < kNever && held_->next_look() <= next_time_) {  // never the last that happens
      next_time_ = held_->next_look();
      next_source_ = Source::Look;
    }
    return next_time_;
  }

  void act() {
    switch (next_source_) {
      case Source::Arrival:
        open_session();
        plan_arrival();
        return;
      case Source::Timer: {
        const std::uint32_t id = timers_.pop();
        if (sessions_[id].reads)
          compute(id);
        else if (now_ >= sessions_[id].ends_at)
          close(sessions_[id]);
        else
          send_query(id);
        return;
      }
      case Source::Replica:
        if (const auto ended = replicas_[next_replica_]->step()) answered(*ended);
        return;
      case Source::Look:
        if (held_->look(sessions_.size() - closed_))
          assignment_.set_class_weight(assignment_.pools().classes().front(),
                                       Weight::nearest(held_->weight()));
        return;
    }
  }

  void open_session() {
    const auto id = static_cast<std::uint32_t>(sessions_.size());
    Session session{Rng(derived_seed(load_.seed, 1 + id)), policy::ClassId(0), policy::ReplicaId(0), 0};
    const std::uint32_t which = session.rng.unit() < now_share_ ? 0 : 1;
    session.ends_at =
        now_ + load_.lifetime_min + (load_.lifetime_max - load_.lifetime_min) * session.rng.unit();
    const policy::Decision decision = assignment_.admit({policy::ClassId(which), "", std::nullopt});
    SLUICE_ASSERT(decision.outcome != policy::Outcome::Refused);
    session.session_class = decision.counted_in;
    session.replica = decision.replica;
    sessions_.push_back(session);
    ++out_.classes[which].sessions;
    send_query(id);
  }

  void send_query(std::uint32_t id) {
    Session& session = sessions_[id];
    session.asked_at = now_;
    if (load_.storage_mean == 0) {
      compute(id);
      return;
    }
    session.reads = true;
    timers_.push(now_ + exponential(session.rng, load_.storage_mean), timer_count_++, id);
  }

  void compute(std::uint32_t id) {
    Session& session = sessions_[id];
    session.reads = false;
    replicas_[session.replica.value()]->arrive(now_, {session.asked_at, demand_.draw(session.rng), 0, id});
  }

  void answered(const Job& query) {
    Session& session = sessions_[query.id];
    responses_[session.session_class.value()].push_back(now_ - query.arrived);
    if (held_)
      held_->answered(
          session.session_class.value() == 0 ? HeldWeight::Whose::Highest : HeldWeight::Whose::Lowest,
          now_ - query.arrived);
    if (now_ >= session.ends_at) {
      close(session);
      return;
    }
    const double wakes = now_ + exponential(session.rng, load_.think_mean);
    timers_.push(std::min(wakes, session.ends_at), timer_count_++, query.id);
  }

  void close(const Session& session) {
    assignment_.close(session.replica, session.session_class);
    ++closed_;
    if (held_) held_->session_ended();
  }

  void measure_utilization() {
    for (const auto& replica : replicas_)
      out_.utilization.push_back(replica->work_done(load_.duration) / (load_.cores * load_.duration));
  }

  static void describe(std::vector<double>& responses, ClassOutcome& out) {
    out.queries = responses.size();
    if (responses.empty()) return;
    std::sort(responses.begin(), responses.end());
    out.mean = stats::mean(responses);
    out.median = stats::quantile_sorted(responses, 0.5);
    out.p95 = stats::quantile_sorted(responses, 0.95);
  }

  void summarise() {
    std::vector<double> all;
    for (std::size_t c = 0; c < kClassCount; ++c) {
      all.insert(all.end(), responses_[c].begin(), responses_[c].end());
      describe(responses_[c], out_.classes[c]);
    }
    describe(all, out_.all);
    out_.all.sessions = sessions_.size();
    out_.mean_utilization = stats::mean(out_.utilization);
    out_.utilization_cv = stats::coefficient_of_variation(out_.utilization);
    const policy::Snapshot snapshot = assignment_.snapshot();
    out_.borrowings = snapshot.borrowings;
    out_.returns = snapshot.returns;
    if (held_) out_.weights = held_->steps();
  }

  const PlbWorkload& load_;
  stats::LogNormal demand_;
  policy::Assignment assignment_;
  Rng arrivals_;
  std::vector<std::unique_ptr<Server>> replicas_;
  std::vector<Session> sessions_;
  std::size_t closed_ = 0;
  std::optional<HeldWeight> held_;
  WaitQueue<std::uint32_t> timers_;  // sessions that pause, or whose query waits for storage
  std::uint64_t timer_count_ = 0;
  std::vector<double> responses_[kClassCount];
  double now_share_, now_sessions_;  // in the phase that the next arrival is in
  std::size_t next_phase_ = 0;
  double now_ = 0, next_arrival_ = 0;
  double next_time_ = 0;
  Source next_source_ = Source::Arrival;
  std::size_t next_replica_ = 0;
  PlbOutcome out_;
};

}  // namespace

std::vector<Strategy> paper_strategies() {
  return {{"5PLB", paper_config(policy::PolicyKind::Plb), {}},
          {"5RR", paper_config(policy::PolicyKind::RoundRobin), {}},
          {"3RR+2RR", static_split(3), {}},
          {"4RR+1RR", static_split(4), {}},
          {"least_loaded", paper_config(policy::PolicyKind::LeastLoaded), {}}};
}

Strategy proportional_strategy(Weight premium) {
  Strategy out{"proportional/" + premium.to_string(), paper_config(policy::PolicyKind::Proportional), {}};
  out.config.classes.front().weight = premium;
  return out;
}

Strategy held_strategy(const policy::WeightTarget& target) {
  Strategy out = proportional_strategy(Weight());
  out.name = "proportional/" + target.to_string();
  out.hold.emplace().settings.target = target;
  return out;
}

PlbOutcome run(const PlbWorkload& workload, const Strategy& strategy) {
  SLUICE_ASSERT(workload.sessions > 0 && workload.duration > 0 && workload.think_mean >= 0 &&
                workload.storage_mean >= 0);
  return Run(workload, strategy).result();
}

}  // namespace sluice::sim
