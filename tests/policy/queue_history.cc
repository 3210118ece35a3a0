#include "tests/policy/queue_history.h"

#include <algorithm>
#include <array>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "tests/policy/history.h"

namespace sluice::policy {
namespace {

using namespace std::chrono_literals;

struct Request {
  int id = 0;
  ClassId session_class;
  std::vector<ReplicaId> failed;
  std::optional<std::size_t> gate;
  QueueTime since{};
  std::optional<double> size;
  double order = 0;
  QueueEntry entry;
};

struct Grant {
  int id = 0;
  ReplicaId replica;
  ClassId counted_in;
  std::vector<RoleChange> changes;

  friend bool operator==(const Grant&, const Grant&) = default;
};

class QueueHistory {
 public:
  QueueHistory(const QueueHistoryKind& kind, std::uint64_t seed)
      : kind_(kind), rng_(seed), config_(config()), real_(config_), model_(config_), queue_(real_) {
    for (std::size_t i = 0; i < gates_.size(); ++i)
      gates_[i].limit = model_gates_[i].limit = 2 + static_cast<std::int64_t>(i);
    settle_settings();
    // Small ones, until a review is near: with the sizes to come, replicas take others within the history.
    if (is_by_size(kind_.order))
      for (int i = 0; i < 500; ++i) {
        const double size = random_size(3);
        for (const ClassId c : real_.pools().classes()) {
          real_.arrived({c, "", size});
          model_.arrived({c, "", size});
        }
      }
  }
  ~QueueHistory() {
    for (const auto& request : waiting_)
      if (request->entry.queued()) queue_.withdraw(request->entry);
  }

  std::string play() {
    for (int step = 0; step < kind_.steps && fault_.empty(); ++step) {
      now_ += std::chrono::milliseconds(rng_.below(40));
      one_step();
      if (fault_.empty()) compare();
      if (!fault_.empty()) fault_ = "step " + std::to_string(step) + " (" + event_ + "): " + fault_;
    }
    return fault_;
  }

 private:
  bool chance(std::uint64_t percent) { return rng_.below(100) < percent; }

  PoolConfig config() {
    PoolConfig made = random_config(kind_.class_count, kind_.replica_count, rng_);
    made.policy = kind_.policy;
    made.seed = 7;
    made.order = kind_.order;
    for (ReplicaConfig& replica : made.replicas)
      replica.max_active = chance(10) ? 0 : 1 + static_cast<std::int64_t>(rng_.below(3));
    return made;
  }

  void settle_settings() {
    settings_.ageing = chance(20) ? 0ms : std::chrono::milliseconds(rng_.below(600));
    settings_.discipline = kind_.discipline;
    queue_.set_settings(settings_);
  }

  // Of 1 ms to 1 s.
  double random_size(std::uint64_t powers = 11) {
    return 0.001 * static_cast<double>(std::uint64_t{1} << rng_.below(powers));
  }

  void one_step() {
    if (kind_.reloads && chance(3)) return reload();
    if (kind_.failures && chance(8)) return mark();
    if (!waiting_.empty() && chance(4)) return withdraw();
    if (chance(2)) filling_ = !filling_;
    if (!open_.empty() && chance(filling_ ? 40 : 65)) return close();
    ask();
  }

  void ask() {
    auto request = std::make_unique<Request>();
    request->id = ++ids_;
    request->session_class = real_.pools().classes()[rng_.below(real_.pools().classes().size())];
    if (kind_.exclusions && chance(15))
      request->failed.push_back(real_.pools().replicas()[rng_.below(real_.pools().replicas().size())]);
    if (kind_.gates && chance(70)) request->gate = rng_.below(gates_.size());
    request->since = now_;
    if (kind_.sizes && chance(80)) request->size = random_size();
    const bool counts = any_live_beside(request->failed);
    if (request->size && counts) {
      known_sizes_ = std::min(known_sizes_ + 1, 1000.0);
      mean_size_ += (*request->size - mean_size_) / known_sizes_;
    }
    request->order = request->size.value_or(mean_size_);
    if (counts) model_.arrived({request->session_class, "", request->size});
    event_ = "ask " + std::to_string(request->id);

    Decision decision;
    const Arrival arrival{request->session_class, "", request->size};
    if (queue_.arrive(request->entry, arrival, request->failed, now_)) serve({});
    if (!fault_.empty()) return;
    const auto answer = queue_.ask(request->entry, arrival, gates_of(*request, gates_), request->failed, now_,
                                   AdmissionQueue::Wait::Yes, decision);
    std::vector<Grant> got;
    if (answer == AdmissionQueue::Answer::Granted) got.push_back(take(*request, decision));

    if (!any_live_beside(request->failed)) {
      if (answer != AdmissionQueue::Answer::NoReplica) fault_ = "answered although no replica is live";
      return;
    }
    waiting_.push_back(std::move(request));
    serve(std::move(got));
  }

  void serve(std::vector<Grant> got) {
    Decision decision;
    while (QueueEntry* const entry = queue_.next(now_, decision)) {
      const auto found = std::find_if(waiting_.begin(), waiting_.end(),
                                      [&](const auto& request) { return &request->entry == entry; });
      if (found == waiting_.end()) {
        fault_ = "gave out a stranger";
        return;
      }
      got.push_back(take(**found, decision));
    }
    const std::vector<Grant> expected = model_grants();
    if (got != expected) {
      fault_ = std::to_string(got.size()) + " grants, expected " + std::to_string(expected.size());
      if (!got.empty()) fault_ += "; the first to " + std::to_string(got.front().id);
      if (!expected.empty()) fault_ += "; expected to " + std::to_string(expected.front().id);
    }
    for (const Grant& grant : got) {
      const auto found = std::find_if(waiting_.begin(), waiting_.end(),
                                      [&](const auto& request) { return request->id == grant.id; });
      if (found == waiting_.end()) {
        fault_ = "granted twice";
        return;
      }
      open_.push_back({grant, (*found)->gate});
      waiting_.erase(found);
    }
  }

  Grant take(const Request& request, const Decision& decision) {
    if (request.gate) ++gates_[*request.gate].active;
    const std::int64_t limit = real_.pools().max_active(decision.replica);
    if (limit > 0 && real_.pools().total_load(decision.replica) > limit) fault_ = "more than max_active";
    return {request.id,
            decision.replica,
            decision.counted_in,
            {decision.changes.begin(), decision.changes.end()}};
  }

  std::vector<Grant> model_grants() {
    std::vector<Grant> grants;
    std::vector<const Request*> left;
    for (const auto& request : waiting_)
      left.push_back(request.get());
    for (bool again = true; again;) {
      again = false;
      std::sort(left.begin(), left.end(), [&](auto* a, auto* b) { return goes_before(*a, *b); });
      for (std::size_t i = 0; i < left.size(); ++i) {
        const Request& request = *left[i];
        if (request.gate && !model_gates_[*request.gate].open()) continue;
        const ReplicaSet failed = any_live_beside(request.failed) ? ReplicaSet(request.failed) : ReplicaSet();
        if (!any_live_beside({})) continue;
        const Decision decision = model_.place({request.session_class, "", request.size}, failed);
        if (decision.outcome == Outcome::Refused) continue;
        if (request.gate) ++model_gates_[*request.gate].active;
        grants.push_back({request.id,
                          decision.replica,
                          decision.counted_in,
                          {decision.changes.begin(), decision.changes.end()}});
        left.erase(left.begin() + static_cast<std::ptrdiff_t>(i));
        again = true;
        break;
      }
    }
    return grants;
  }

  bool goes_before(const Request& a, const Request& b) const {
    const auto aged = [&](const Request& r) {
      return settings_.ageing.count() > 0 && now_ - r.since >= settings_.ageing;
    };
    const auto rank = [&](const Request& r) {
      const Pools& pools = model_.pools();
      return pools.configured(r.session_class) ? pools.rank(r.session_class) : pools.classes().size() - 1;
    };
    if (aged(a) != aged(b)) return aged(a);
    if (!aged(a) && rank(a) != rank(b)) return rank(a) < rank(b);
    if (!aged(a) && settings_.discipline == QueueDiscipline::ShortestFirst && a.order != b.order)
      return a.order < b.order;
    return a.id < b.id;
  }

  bool any_live_beside(ReplicaSet failed) const {
    const Pools& pools = model_.pools();
    return std::any_of(pools.replicas().begin(), pools.replicas().end(), [&](ReplicaId r) {
      return pools.live(r) && std::find(failed.begin(), failed.end(), r) == failed.end();
    });
  }

  static Gates gates_of(const Request& request, std::array<Gate, 2>& gates) {
    return {request.gate ? &gates[*request.gate] : nullptr, nullptr};
  }

  void close() {
    const std::size_t which = rng_.below(open_.size());
    const Open session = open_[which];
    open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(which));
    event_ = "close " + std::to_string(session.grant.id);
    real_.close(session.grant.replica, session.grant.counted_in);
    model_.close(session.grant.replica, session.grant.counted_in);
    if (session.gate) {
      --gates_[*session.gate].active;
      --model_gates_[*session.gate].active;
    }
    serve({});
  }

  void withdraw() {
    const auto which = waiting_.begin() + static_cast<std::ptrdiff_t>(rng_.below(waiting_.size()));
    event_ = "withdraw " + std::to_string((*which)->id);
    queue_.withdraw((*which)->entry);
    waiting_.erase(which);
  }

  void mark() {
    const ReplicaId r = real_.pools().replicas()[rng_.below(real_.pools().replicas().size())];
    event_ = "mark " + real_.pools().name(r);
    if (chance(60)) {
      const bool up = !real_.pools().up(r);
      real_.set_up(r, up);
      model_.set_up(r, up);
    } else {
      const bool draining = !real_.pools().draining(r);
      real_.set_draining(r, draining);
      model_.set_draining(r, draining);
    }
    serve({});
  }

  void reload() {
    event_ = "reload";
    PoolConfig next = config();
    for (std::size_t i = 0; i < next.classes.size(); ++i)
      std::swap(next.classes[i].name, next.classes[rng_.below(i + 1)].name);
    if (next.classes.size() > 1 && chance(30)) next.classes.pop_back();
    if (next.replicas.size() > 1 && chance(30)) next.replicas.pop_back();
    real_.reconfigure(next);
    model_.reconfigure(next);
    settle_settings();
    queue_.regroup([&](const QueueEntry& entry) {
      const auto found = std::find_if(waiting_.begin(), waiting_.end(),
                                      [&](const auto& request) { return &request->entry == &entry; });
      return gates_of(**found, gates_);
    });
    serve({});
  }

  void compare() {
    const Snapshot a = real_.snapshot();
    const Snapshot b = model_.snapshot();
    for (std::size_t i = 0; i < a.replicas.size() && i < b.replicas.size(); ++i) {
      const ReplicaSnapshot& x = a.replicas[i];
      const ReplicaSnapshot& y = b.replicas[i];
      if (x.name != y.name || x.loads != y.loads || x.total_load != y.total_load)
        note(x.name + ": another load");
      if (x.pool_name != y.pool_name || x.borrowed != y.borrowed) note(x.name + ": another role");
    }
    if (a.replicas.size() != b.replicas.size()) note("another number of replicas");
    std::int64_t taken = 0;
    for (const ReplicaSnapshot& replica : a.replicas)
      taken += replica.total_load;
    if (taken != static_cast<std::int64_t>(open_.size())) note("slots taken are not the open sessions");
    if (queue_.waiting() != waiting_.size()) note("another number of waiters");
  }

  void note(const std::string& fault) {
    if (fault_.empty()) fault_ = fault;
  }

  struct Open {
    Grant grant;
    std::optional<std::size_t> gate;
  };

  QueueHistoryKind kind_;
  Rng rng_;
  PoolConfig config_;
  Assignment real_;
  Assignment model_;
  AdmissionQueue queue_;
  QueueSettings settings_;
  std::array<Gate, 2> gates_;
  std::array<Gate, 2> model_gates_;
  std::deque<std::unique_ptr<Request>> waiting_;  // in the order of arrival
  std::vector<Open> open_;
  QueueTime now_{1s};
  int ids_ = 0;
  double mean_size_ = 0, known_sizes_ = 0;
  bool filling_ = true;
  std::string event_;
  std::string fault_;
};

}  // namespace

std::string play_queue_history(const QueueHistoryKind& kind, std::uint64_t seed) {
  return QueueHistory(kind, seed).play();
}

}  // namespace sluice::policy
