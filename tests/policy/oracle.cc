#include "tests/policy/oracle.h"

#include <algorithm>

namespace sluice::policy {
namespace {

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

void Oracle::reload(const PoolConfig& config) {
  const std::vector<std::string> before = order_;
  classes_ = config.classes;
  Names names = {"mixed"};
  std::vector<std::string> shares;  // "premium" as often as its target says, and so on
  for (const ClassParams& c : classes_) {
    names.push_back(c.name);
    for (long i = 0; i < c.target; ++i)
      shares.push_back(c.name);
  }
  order_.clear();
  for (std::size_t i = 0; i < config.replicas.size(); ++i) {
    const std::string& name = config.replicas[i].name;
    order_.push_back(name);
    Replica& r = all_[name];
    if (contains(before, name) && contains(names, r.pool)) continue;
    r.pool = config.replicas[i].pool ? *config.replicas[i].pool : i < shares.size() ? shares[i] : "mixed";
    r.borrowed = false;
  }
}

const ClassParams& Oracle::params(const std::string& cls) const {
  return *std::find_if(classes_.begin(), classes_.end(), [&](const auto& c) { return c.name == cls; });
}

Oracle::Names Oracle::above(const std::string& cls) const {
  Names names;
  for (const ClassParams& c : classes_) {
    if (c.name == cls) return names;
    names.push_back(c.name);
  }
  return names;
}

Oracle::Names Oracle::below(const std::string& cls) const {
  Names names;
  for (const ClassParams& c : classes_)
    if (c.name != cls && !contains(above(cls), c.name)) names.push_back(c.name);
  for (const auto& [replica, r] : all_)  // classes that are no longer configured are below all
    for (const auto& [name, load] : r.loads)
      if (name != cls && !contains(above(cls), name) && !contains(names, name)) names.push_back(name);
  return names;
}

bool Oracle::live(const std::string& replica) const {
  return contains(order_, replica) && all_.at(replica).up && !all_.at(replica).draining;
}

long Oracle::load(const std::string& replica, const std::string& cls) const {
  const auto& loads = all_.at(replica).loads;
  return loads.contains(cls) ? loads.at(cls) : 0;
}

long Oracle::load_of(const std::string& replica, const Names& classes) const {
  long sum = 0;
  for (const std::string& c : classes)
    sum += load(replica, c);
  return sum;
}

long Oracle::total(const std::string& replica) const {
  long sum = 0;
  for (const auto& [cls, load] : all_.at(replica).loads)
    sum += load;
  return sum;
}

long Oracle::ordering_load(const std::string& replica, const std::string& cls) const {
  return all_.at(replica).borrowed ? total(replica) : load(replica, cls);
}

Oracle::Names Oracle::pool_members(const std::string& pool) const {
  Names members;
  for (const std::string& r : order_)
    if (live(r) && all_.at(r).pool == pool) members.push_back(r);
  return members;
}

Oracle::Names Oracle::without_excluded(const Names& names) const {
  Names left;
  for (const std::string& r : names)
    if (!excluded_.contains(r)) left.push_back(r);
  return left;
}

// Candidates come in configuration order and the sort is stable, so the earlier wins a tie. "" if there is
// none.
std::string Oracle::best_by(const Names& candidates,
                            const std::map<std::string, std::vector<long>>& key) const {
  Names sorted = candidates;
  std::stable_sort(sorted.begin(), sorted.end(), [&](auto& a, auto& b) { return key.at(a) < key.at(b); });
  return sorted.empty() ? "" : sorted.front();
}

void Oracle::move(const std::string& replica, const std::string& to, bool borrow, Answer& answer) {
  answer.changes.push_back(replica + ":" + all_[replica].pool + ">" + to + (borrow ? " borrow" : " return"));
  all_[replica].pool = to;
  all_[replica].borrowed = borrow;
}

bool Oracle::one_return(Answer& answer) {
  for (const ClassParams& c : classes_) {
    for (const std::string& r : pool_members(c.name)) {
      if (!all_[r].borrowed || load(r, c.name) != 0) continue;
      bool eased = false;
      for (const std::string& other : pool_members(c.name))
        if (other != r && load(other, c.name) < c.watermark()) eased = true;
      if (!eased) continue;
      std::string home = "mixed";
      for (const ClassParams& d : classes_)
        if (d.name != c.name && static_cast<long>(pool_members(d.name).size()) < d.target) {
          home = d.name;
          break;
        }
      move(r, home, false, answer);
      return true;
    }
  }
  return false;
}

std::string Oracle::donor_among_lower(const std::string& cls) {
  bool bounded = false;
  long least = 0;
  for (const std::string& r : without_excluded(pool_members(cls))) {
    least = bounded ? std::min(least, ordering_load(r, cls)) : ordering_load(r, cls);
    bounded = true;
  }
  for (auto d = classes_.rbegin(); d != classes_.rend() && d->name != cls; ++d) {
    const Names pool = pool_members(d->name);
    if (static_cast<long>(pool.size()) - 1 < d->floor) continue;
    Names candidates;
    std::map<std::string, std::vector<long>> key;
    for (const std::string& r : without_excluded(pool)) {
      if (bounded && total(r) >= least) continue;
      candidates.push_back(r);
      key[r] = {load(r, d->name) < d->watermark() ? 0 : 1, total(r)};
    }
    if (!candidates.empty()) return best_by(candidates, key);
  }
  return "";
}

std::string Oracle::donor_among_higher(const std::string& cls) {
  Names higher = above(cls);
  std::reverse(higher.begin(), higher.end());
  for (const std::string& d : higher) {
    const Names pool = pool_members(d);
    if (static_cast<long>(pool.size()) - 1 < params(d).target) continue;
    Names candidates;
    std::map<std::string, std::vector<long>> key;
    for (const std::string& r : without_excluded(pool)) {
      if (load_of(r, above(cls)) > 0) continue;
      candidates.push_back(r);
      key[r] = {total(r)};
    }
    if (!candidates.empty()) return best_by(candidates, key);
  }
  return "";
}

std::string Oracle::decide(const std::string& cls, Answer& answer) {
  while (one_return(answer)) {
  }
  const Names own = without_excluded(pool_members(cls));
  const Names mixed = without_excluded(pool_members("mixed"));
  Names with_headroom, everybody;
  std::map<std::string, std::vector<long>> own_key, mixed_key, total_key;
  for (const std::string& r : own) {
    own_key[r] = {ordering_load(r, cls)};
    if (load(r, cls) < params(cls).saturation) with_headroom.push_back(r);
  }
  for (const std::string& r : mixed) {
    if (classes_.back().name == cls)
      mixed_key[r] = {load_of(r, above(cls)), load(r, cls) + load_of(r, below(cls))};
    else
      mixed_key[r] = {load_of(r, above(cls)), load(r, cls) > 0 ? 1 : 0, load_of(r, below(cls))};
  }
  for (const std::string& r : order_)
    if (live(r) && !excluded_.contains(r)) {
      everybody.push_back(r);
      total_key[r] = {total(r)};
    }

  std::string chosen;
  const auto settle = [&](const std::string& replica, const char* outcome, bool borrow) {
    if (!chosen.empty() || replica.empty()) return;
    chosen = replica;
    answer.outcome = outcome;
    if (borrow) move(replica, cls, true, answer);
  };
  settle(best_by(with_headroom, own_key), "own", false);
  if (chosen.empty()) settle(best_by(mixed, mixed_key), "borrowed_mixed", true);
  if (chosen.empty()) settle(donor_among_lower(cls), "borrowed_lower", true);
  if (chosen.empty()) settle(donor_among_higher(cls), "borrowed_higher", true);
  if (chosen.empty()) settle(best_by(own, own_key), "fallback", false);
  if (chosen.empty()) settle(best_by(everybody, total_key), "fallback_any", false);
  return chosen;
}

Oracle::Answer Oracle::open(const std::string& cls, const std::set<std::string>& excluded) {
  excluded_ = excluded;
  Answer answer;
  answer.replica = decide(cls, answer);
  if (answer.replica.empty())
    answer.outcome = "refused";
  else
    ++all_[answer.replica].loads[cls];
  excluded_.clear();
  return answer;
}

}  // namespace sluice::policy
