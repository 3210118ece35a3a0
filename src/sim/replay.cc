#include "sim/replay.h"

#include <algorithm>
#include <cmath>

#include "sluice/stats/comparison.h"
#include "sluice/stats/portable_math.h"
#include "sluice/stats/quantile.h"

#include "base/assert.h"
#include "sim/replica_group.h"
#include "sim/wait_queue.h"

namespace sluice::sim {
namespace {

// Response and waiting times as they come, by class.
class Collected {
 public:
  Collected(const RecordedTrace& trace) : last_at_(trace.guests.empty() ? 0 : trace.guests.back().at) {
    for (const policy::ClassParams& c : trace.config.classes)
      classes_.emplace_back().name = c.name;
  }

  void guest(std::uint32_t c, double waited) {
    ++classes_[c].guests;
    classes_[c].waited += waited;
  }
  void answer(std::uint32_t c, double guest_at, double response) {
    const double part = last_at_ > 0 ? guest_at / last_at_ : 0;
    const auto slice = std::min(kReplaySlices - 1, static_cast<std::size_t>(part * kReplaySlices));
    classes_[c].responses.push_back(response);
    classes_[c].slices[slice].sum += response;
    ++classes_[c].slices[slice].count;
  }

  std::vector<ReplayClass> classes() {
    Samples all;
    all.name = "all";
    std::vector<ReplayClass> out;
    for (Samples& c : classes_) {
      all.guests += c.guests;
      all.waited += c.waited;
      all.responses.insert(all.responses.end(), c.responses.begin(), c.responses.end());
      for (std::size_t s = 0; s < kReplaySlices; ++s) {
        all.slices[s].sum += c.slices[s].sum;
        all.slices[s].count += c.slices[s].count;
      }
      out.push_back(describe(c));
    }
    out.push_back(describe(all));
    return out;
  }

 private:
  struct Slice {
    double sum = 0;
    std::uint64_t count = 0;
  };
  struct Samples {
    std::string name;
    std::uint64_t guests = 0;
    double waited = 0;
    std::vector<double> responses;
    Slice slices[kReplaySlices];
  };

  static ReplayClass describe(Samples& s) {
    ReplayClass out;
    out.name = s.name;
    out.guests = s.guests;
    out.queries = s.responses.size();
    if (s.guests > 0) out.waiting_mean = s.waited / static_cast<double>(s.guests);
    if (s.responses.empty()) return out;
    std::sort(s.responses.begin(), s.responses.end());
    out.mean = stats::mean(s.responses);
    out.median = stats::quantile_sorted(s.responses, 0.5);
    out.p95 = stats::quantile_sorted(s.responses, 0.95);
    for (const Slice& slice : s.slices)
      if (slice.count > 0) out.slice_means.push_back(slice.sum / static_cast<double>(slice.count));
    return out;
  }

  std::vector<Samples> classes_;
  double last_at_;
};

class Replay {
 public:
  Replay(const RecordedTrace& trace, const Demands& demands, const ReplayPlan& plan, RecordedTrace* happened)
      : trace_(trace),
        demands_(demands),
        plan_(plan),
        happened_(happened),
        group_(plan.config, {.cores = plan.cores, .cores_per_query = 1, .queue = plan.queue}),
        collected_(trace),
        visits_(trace.guests.size()) {
    SLUICE_ASSERT(plan.load > 0 && plan.config.classes.size() == trace.config.classes.size());
    if (happened_ != nullptr) {
      *happened_ = trace;
      happened_->config = plan.config;
      happened_->queue = plan.queue;
      for (RecordedGuest& guest : happened_->guests)
        guest.at /= plan.load;
    }
    if (plan.hold) held_.emplace(*plan.hold, plan.config.classes.front().weight.value());
  }

  ReplayOutcome result() {
    while (step())
      ++out_.events;
    out_.classes = collected_.classes();
    const policy::Snapshot snapshot = group_.assignment().snapshot();
    out_.borrowings = snapshot.borrowings;
    out_.returns = snapshot.returns;
    if (held_) out_.weight = held_->weight();
    return std::move(out_);
  }

 private:
  struct Visit {
    ReplicaGroup::Guest* guest = nullptr;
    std::uint32_t next_query = 0;
    double asked = 0;  // the query in progress, or for a replica
    double waited = 0;
  };

  double arrival_of(std::size_t g) const noexcept { return trace_.guests[g].at / plan_.load; }

  double size_of(std::uint32_t g) const noexcept {
    if (plan_.sizes == ReplayPlan::Sizes::Expected) return trace_.guests[g].expected_size;
    double size = 0;
    for (const double demand : demands_.of[g])
      size += demand;
    return size;
  }

  bool step() {
    const double served = group_.next_event();
    const double wakes = timers_.empty() ? kNever : timers_.least_key();
    const double arrives = next_ < trace_.guests.size() ? arrival_of(next_) : kNever;
    double now = std::min({served, wakes, arrives});
    if (now == kNever) return false;
    if (held_ && held_->next_look() <= now) {
      now = held_->next_look();
      if (held_->look(open_))
        group_.set_class_weight(now, group_.assignment().pools().classes().front(),
                                Weight::nearest(held_->weight()));
    } else if (served == now) {
      answered(now, group_.step().id);
    } else if (wakes == now) {
      go_on(now, timers_.pop());
    } else {
      arrive(now, static_cast<std::uint32_t>(next_++));
    }
    for (ReplicaGroup::Guest* const guest : group_.take_granted())
      begin(now, *guest);
    return true;
  }

  void arrive(double now, std::uint32_t g) {
    visits_[g].asked = now;
    const auto [answer, guest] =
        group_.ask(now, g, policy::ClassId(trace_.guests[g].session_class), {now, size_of(g), 0, g});
    if (answer == ReplicaGroup::Answer::Refused) {
      ++out_.refused;
      return;
    }
    visits_[g].guest = guest;
    ++open_;
    if (answer == ReplicaGroup::Answer::Granted) begin(now, *guest);
  }

  void begin(double now, ReplicaGroup::Guest& guest) {
    Visit& visit = visits_[guest.id];
    visit.waited = now - visit.asked;
    collected_.guest(trace_.guests[guest.id].session_class, visit.waited);
    if (happened_ != nullptr) {
      happened_->guests[guest.id].waited = visit.waited;
      happened_->guests[guest.id].replica = guest.replica.value();
    }
    pause(now, guest.id);
  }

  // Until the next query, or until the end.
  void pause(double now, std::uint32_t g) {
    const RecordedGuest& guest = trace_.guests[g];
    const std::uint32_t q = visits_[g].next_query;
    timers_.push(now + (q < guest.queries.size() ? guest.queries[q].pause : guest.tail), timer_count_++, g);
  }

  void go_on(double now, std::uint32_t g) {
    Visit& visit = visits_[g];
    if (visit.next_query == trace_.guests[g].queries.size()) {
      --open_;
      if (held_) held_->session_ended();
      group_.leave(now, *visit.guest);
      return;
    }
    visit.asked = now;
    group_.serve(now, *visit.guest, {now, demands_.of[g][visit.next_query], 0, g});
  }

  void answered(double now, std::uint32_t g) {
    Visit& visit = visits_[g];
    const RecordedGuest& guest = trace_.guests[g];
    const double response = now - visit.asked + (visit.next_query == 0 ? visit.waited : 0);
    collected_.answer(guest.session_class, guest.at, response);
    if (happened_ != nullptr) happened_->guests[g].queries[visit.next_query].response = now - visit.asked;
    if (held_ && (guest.session_class == 0 || guest.session_class + 1 == trace_.config.classes.size()))
      held_->answered(guest.session_class == 0 ? HeldWeight::Whose::Highest : HeldWeight::Whose::Lowest,
                      response);
    ++visit.next_query;
    pause(now, g);
  }

  const RecordedTrace& trace_;
  const Demands& demands_;
  const ReplayPlan& plan_;
  RecordedTrace* happened_;
  ReplicaGroup group_;
  Collected collected_;
  std::vector<Visit> visits_;        // by guest
  WaitQueue<std::uint32_t> timers_;  // guests that pause
  std::uint64_t timer_count_ = 0;
  std::size_t next_ = 0, open_ = 0;
  std::optional<HeldWeight> held_;
  ReplayOutcome out_;
};

std::string milliseconds(double seconds) {
  return digits(seconds * 1e3);
}

}  // namespace

bool goes_by_size(const ReplayPlan& plan) noexcept {
  return policy::is_by_size(plan.config.order) ||
         plan.queue.discipline == policy::QueueDiscipline::ShortestFirst;
}

ReplayOutcome recorded_outcome(const RecordedTrace& trace) {
  Collected collected(trace);
  for (const RecordedGuest& guest : trace.guests) {
    collected.guest(guest.session_class, guest.waited);
    for (std::size_t q = 0; q < guest.queries.size(); ++q)
      collected.answer(guest.session_class, guest.at,
                       guest.queries[q].response + (q == 0 ? guest.waited : 0));
  }
  ReplayOutcome out;
  out.classes = collected.classes();
  out.refused = trace.refused;
  return out;
}

ReplayOutcome replay(const RecordedTrace& trace, const Demands& demands, const ReplayPlan& plan,
                     RecordedTrace* happened) {
  return Replay(trace, demands, plan, happened).result();
}

ReplayCheck check_replay(const ReplayOutcome& recorded, const ReplayOutcome& replayed, double tolerance) {
  ReplayCheck out;
  for (std::size_t c = 0; c + 1 < recorded.classes.size(); ++c) {
    const ReplayClass &was = recorded.classes[c], &is = replayed.classes[c];
    if (was.queries == 0 || !(was.median > 0)) continue;
    out.rows.push_back({was.name, was.median, is.median, is.median / was.median - 1});
    out.worst = std::max(out.worst, std::fabs(out.rows.back().error));
  }
  out.passes = !out.rows.empty() && out.worst <= tolerance;
  return out;
}

std::optional<stats::Interval> change_by_slices(const ReplayClass& base, const ReplayClass& other) {
  if (base.slice_means.size() != other.slice_means.size() || base.slice_means.size() < 3) return std::nullopt;
  std::vector<double> logs;
  for (std::size_t s = 0; s < base.slice_means.size(); ++s) {
    if (!(base.slice_means[s] > 0) || !(other.slice_means[s] > 0)) return std::nullopt;
    logs.push_back(stats::portable::log(other.slice_means[s] / base.slice_means[s]));
  }
  const stats::Interval in_logs = stats::mean_interval(logs);
  const auto change = [](double log) { return stats::portable::exp(log) - 1; };
  return stats::Interval{change(in_logs.estimate), change(in_logs.low), change(in_logs.high)};
}

Table check_table(const ReplayCheck& check) {
  Table table({"class", "recorded median ms", "replayed median ms", "error"});
  for (const ReplayCheck::Row& row : check.rows)
    table.add({row.name, milliseconds(row.recorded), milliseconds(row.replayed), percent(row.error)});
  return table;
}

Table replay_table(const std::vector<NamedOutcome>& outcomes) {
  Table table({"", "class", "queries", "mean ms", "median ms", "p95 ms", "waiting ms",
               "mean against the first", "95% from", "to", "borrowed", "returned", "refused", "weight"});
  for (const NamedOutcome& o : outcomes)
    for (std::size_t c = 0; c < o.outcome.classes.size(); ++c) {
      const ReplayClass& row = o.outcome.classes[c];
      const bool first = &o == &outcomes.front();
      const auto change = first ? std::nullopt : change_by_slices(outcomes.front().outcome.classes[c], row);
      const bool last = c + 1 == o.outcome.classes.size();
      const auto once = [&](std::uint64_t count) { return last ? std::to_string(count) : std::string(); };
      table.add({o.name, row.name, std::to_string(row.queries), milliseconds(row.mean),
                 milliseconds(row.median), milliseconds(row.p95), milliseconds(row.waiting_mean),
                 change ? percent(change->estimate) : "", change ? percent(change->low) : "",
                 change ? percent(change->high) : "", once(o.outcome.borrowings), once(o.outcome.returns),
                 once(o.outcome.refused), last && o.outcome.weight > 0 ? digits(o.outcome.weight, 3) : ""});
    }
  return table;
}

Table replay_csv(const std::vector<NamedOutcome>& outcomes) {
  Table table({"name", "class", "guests", "queries", "mean_seconds", "median_seconds", "p95_seconds",
               "waiting_mean_seconds", "borrowings", "returns", "refused", "weight"});
  for (const NamedOutcome& o : outcomes)
    for (const ReplayClass& row : o.outcome.classes)
      table.add({o.name, row.name, std::to_string(row.guests), std::to_string(row.queries),
                 digits(row.mean, 8), digits(row.median, 8), digits(row.p95, 8), digits(row.waiting_mean, 8),
                 std::to_string(o.outcome.borrowings), std::to_string(o.outcome.returns),
                 std::to_string(o.outcome.refused), digits(o.outcome.weight, 8)});
  return table;
}

}  // namespace sluice::sim
