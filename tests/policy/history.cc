#include "tests/policy/history.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>

namespace sluice::policy {
namespace {

const char* const kRatios[] = {"0", "0.29", "0.5", "0.60", "0.80", "1"};

struct OpenSession {
  std::string replica, cls;
  ReplicaId replica_id;
  ClassId class_id;
};

std::string describe(const std::string& pool, bool borrowed, bool up, bool draining) {
  return pool + (borrowed ? " borrowed" : "") + (up ? "" : " down") + (draining ? " draining" : "");
}

class History {
 public:
  History(const HistoryKind& kind, std::uint64_t seed)
      : kind_(kind),
        rng_(seed),
        config_(random_config(kind.class_count, kind.replica_count, rng_)),
        assignment_(config_),
        oracle_(config_) {}

  std::string play() {
    for (int step = 0; step < kind_.steps && fault_.empty(); ++step) {
      const std::vector<std::string> before = roles();
      const bool admission = one_step();
      if (!admission && !reloaded_ && roles() != before) fault_ = "a role changed without an admission";
      if (fault_.empty()) compare_states();
      if (!fault_.empty()) fault_ = "step " + std::to_string(step) + " (" + event_ + "): " + fault_;
    }
    return fault_;
  }

 private:
  bool chance(std::uint64_t percent) { return rng_.below(100) < percent; }
  template <class T>
  const T& any_of(const std::vector<T>& v) {
    return v[rng_.below(v.size())];
  }

  bool one_step() {
    reloaded_ = false;
    if (kind_.reloads && chance(4)) {
      reload();
      return false;
    }
    if (kind_.failures && chance(12)) {
      mark();
      return false;
    }
    // Waves: mostly arrivals, then mostly departures, so that pools both fill and empty.
    if (chance(2)) filling_ = !filling_;
    if (!sessions_.empty() && chance(filling_ ? 35 : 70)) {
      close();
      return false;
    }
    open();
    return true;
  }

  void open() {
    const std::string cls = any_of(config_.classes).name;
    std::set<std::string> excluded;
    std::vector<ReplicaId> excluded_ids;
    for (const ReplicaConfig& r : config_.replicas)
      if (kind_.exclusions && chance(10)) {
        excluded.insert(r.name);
        excluded_ids.push_back(*assignment_.find_replica(r.name));
      }
    event_ = "open " + cls;
    const auto sizes = pool_sizes();
    const Oracle::Answer expected = oracle_.open(cls, excluded);
    const Decision got = assignment_.admit({*assignment_.find_class(cls), "", std::nullopt}, excluded_ids);
    std::vector<std::string> changes;
    for (const RoleChange& x : got.changes)
      changes.push_back(assignment_.pools().name(x.replica) + ":" +
                        std::string(assignment_.pools().pool_name(x.from)) + ">" +
                        std::string(assignment_.pools().pool_name(x.to)) + " " +
                        std::string(change_kind_name(x.kind)));
    const std::string replica = got.outcome == Outcome::Refused ? "" : assignment_.pools().name(got.replica);
    if (replica != expected.replica || outcome_name(got.outcome) != expected.outcome ||
        changes != expected.changes) {
      std::ostringstream out;
      out << "chose " << replica << " " << outcome_name(got.outcome) << " with " << changes.size()
          << " changes, expected " << expected.replica << " " << expected.outcome << " with "
          << expected.changes.size();
      fault_ = out.str();
      return;
    }
    check_pools_after(got, sizes);
    if (!replica.empty()) sessions_.push_back({replica, cls, got.replica, got.counted_in});
  }

  // A borrow takes no pool below its floor (lower donor) or target (higher donor); seen after the returns,
  // which only the changes tell.
  void check_pools_after(const Decision& decision, std::vector<std::int64_t> sizes) {
    for (const RoleChange& x : decision.changes) {
      if (!x.from.is_mixed()) --sizes[x.from.owner().value()];
      if (!x.to.is_mixed()) ++sizes[x.to.owner().value()];
      if (x.kind == ChangeKind::Return || x.from.is_mixed()) continue;
      const ClassParams& donor = assignment_.pools().params(x.from.owner());
      const std::int64_t kept = decision.outcome == Outcome::BorrowedLower ? donor.floor : donor.target;
      if (sizes[x.from.owner().value()] < kept)
        fault_ = "borrowing took " + donor.name + " below what it keeps";
    }
  }

  std::vector<std::int64_t> pool_sizes() {
    std::vector<std::int64_t> sizes;
    for (std::size_t c = 0; c < assignment_.pools().known_class_count(); ++c)
      sizes.push_back(assignment_.pools().live_count(ClassId(static_cast<std::uint32_t>(c))));
    return sizes;
  }

  void close() {
    const std::size_t which = rng_.below(sessions_.size());
    const OpenSession s = sessions_[which];
    sessions_.erase(sessions_.begin() + static_cast<std::ptrdiff_t>(which));
    event_ = "close " + s.cls + " at " + s.replica;
    oracle_.close(s.replica, s.cls);
    assignment_.close(s.replica_id, s.class_id);
  }

  void mark() {
    const std::string name = any_of(config_.replicas).name;
    const ReplicaId id = *assignment_.find_replica(name);
    event_ = "mark " + name;
    Oracle::Replica& r = oracle_.at(name);
    if (chance(60)) {
      r.up = !r.up;
      assignment_.set_up(id, r.up);
    } else {
      r.draining = !r.draining;
      assignment_.set_draining(id, r.draining);
    }
  }

  // Drops, adds and reorders by name; names come back later. Thresholds are drawn anew.
  void reload() {
    event_ = "reload";
    reloaded_ = true;
    PoolConfig next =
        random_config(1 + rng_.below(kind_.class_count), 1 + rng_.below(kind_.replica_count), rng_);
    const std::vector<std::string> classes = shuffled("c", kind_.class_count + 1);
    for (std::size_t i = 0; i < next.classes.size(); ++i)
      next.classes[i].name = classes[i];
    const std::vector<std::string> replicas = shuffled("r", kind_.replica_count + 2);
    for (std::size_t i = 0; i < next.replicas.size(); ++i)
      next.replicas[i].name = replicas[i];
    if (chance(30)) next.replicas[0].pool = chance(50) ? "mixed" : any_of(next.classes).name;
    config_ = next;
    oracle_.reload(next);
    assignment_.reconfigure(next);
  }

  std::vector<std::string> shuffled(const std::string& letter, std::size_t count) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < count; ++i)
      names.insert(names.begin() + static_cast<std::ptrdiff_t>(rng_.below(i + 1)),
                   letter + std::to_string(i));
    return names;
  }

  std::vector<std::string> roles() {
    std::vector<std::string> out;
    for (const ReplicaId r : assignment_.pools().replicas())
      out.push_back(assignment_.pools().name(r) +
                    std::string(assignment_.pools().pool_name(assignment_.pools().pool(r))));
    return out;
  }

  void compare_states() {
    const Snapshot snapshot = assignment_.snapshot();
    std::int64_t open_sessions = 0;
    std::size_t configured = 0;
    for (const ReplicaSnapshot& r : snapshot.replicas) {
      open_sessions += r.total_load;
      if (r.configured && (configured >= oracle_.order().size() || oracle_.order()[configured++] != r.name))
        note("replicas in another order");
      if (r.total_load != oracle_.total(r.name)) note(r.name + ": another total load");
      for (std::size_t i = 0; i < snapshot.classes.size(); ++i)
        if (r.loads[i] != oracle_.load(r.name, snapshot.classes[i].params.name))
          note(r.name + ": another load");
      const Oracle::Replica& o = oracle_.at(r.name);
      if (r.configured &&
          (r.pool_name != o.pool || r.borrowed != o.borrowed || r.up != o.up || r.draining != o.draining))
        note(r.name + ": is " + describe(r.pool_name, r.borrowed, r.up, r.draining) + ", expected " +
             describe(o.pool, o.borrowed, o.up, o.draining));
    }
    if (configured != oracle_.order().size()) note("not every replica is shown");
    if (open_sessions != static_cast<std::int64_t>(sessions_.size()))
      note("loads do not sum to the open sessions");
    std::int64_t members = snapshot.live_mixed;
    for (const ClassSnapshot& c : snapshot.classes)
      members += c.live_replicas;
    if (members != std::count_if(oracle_.order().begin(), oracle_.order().end(),
                                 [&](const std::string& r) { return oracle_.live(r); }))
      note("pools do not partition the live replicas");
  }

  void note(const std::string& fault) {
    if (fault_.empty()) fault_ = fault;
  }

  HistoryKind kind_;
  Rng rng_;
  PoolConfig config_;
  Assignment assignment_;
  Oracle oracle_;
  std::vector<OpenSession> sessions_;
  bool filling_ = true;
  bool reloaded_ = false;
  std::string event_;
  std::string fault_;
};

}  // namespace

PoolConfig random_config(std::size_t class_count, std::size_t replica_count, Rng& rng) {
  PoolConfig config;
  for (std::size_t i = 0; i < class_count; ++i) {
    ClassParams& c = config.classes.emplace_back();
    c.name = "c" + std::to_string(i);
    c.saturation = 1 + static_cast<std::int64_t>(rng.below(5));
    c.return_ratio = *Ratio::parse(kRatios[rng.below(std::size(kRatios))]);
    c.floor = i == 0 ? 0 : static_cast<std::int64_t>(rng.below(3));
    c.target = static_cast<std::int64_t>(rng.below(4));
  }
  for (std::size_t i = 0; i < replica_count; ++i)
    config.replicas.push_back({"r" + std::to_string(i), std::nullopt});
  return config;
}

std::string play_history(const HistoryKind& kind, std::uint64_t seed) {
  return History(kind, seed).play();
}

std::vector<std::uint64_t> seeds(std::uint64_t count) {
  if (const char* only = std::getenv("SLUICE_SEED")) return {std::strtoull(only, nullptr, 10)};
  if (const char* more = std::getenv("SLUICE_SEED_COUNT")) count = std::strtoull(more, nullptr, 10);
  std::vector<std::uint64_t> all;
  for (std::uint64_t seed = 1; seed <= count; ++seed)
    all.push_back(seed);
  return all;
}

}  // namespace sluice::policy
