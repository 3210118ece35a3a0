#include "sluice/policy/pools.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace sluice::policy {

std::optional<ReplicaId> Pools::find_replica(std::string_view wanted) const noexcept {
  for (std::size_t i = 0; i < names_.size(); ++i)
    if (names_[i] == wanted) return ReplicaId(static_cast<std::uint32_t>(i));
  return std::nullopt;
}

std::optional<ClassId> Pools::find_class(std::string_view wanted) const noexcept {
  for (std::size_t i = 0; i < classes_.size(); ++i)
    if (classes_[i].name == wanted) return ClassId(static_cast<std::uint32_t>(i));
  return std::nullopt;
}

std::string_view Pools::pool_name(PoolId p) const noexcept {
  return p.is_mixed() ? std::string_view("mixed") : std::string_view(name(p.owner()));
}

std::int64_t Pools::load_above(ReplicaId r, ClassId c) const noexcept {
  std::int64_t sum = 0;
  for (std::size_t i = 0, own = rank(c); i < own; ++i)
    sum += load(r, class_order_[i]);
  return sum;
}

std::int64_t Pools::live_count(PoolId p) const noexcept {
  return std::count_if(replica_order_.begin(), replica_order_.end(),
                       [&](ReplicaId r) { return member(r, p); });
}

void Pools::add_session(ReplicaId r, ClassId c) {
  ++loads_[at_index(r) * classes_.size() + index(c)];
  ++at(r).total;
}

void Pools::remove_session(ReplicaId r, ClassId c) {
  std::int64_t& count = loads_[at_index(r) * classes_.size() + index(c)];
  SLUICE_ASSERT(count > 0);
  --count;
  --at(r).total;
}

void Pools::set_load(ReplicaId r, ClassId c, std::int64_t load) {
  SLUICE_ASSERT(load >= 0 && load <= kParameterMax);
  std::int64_t& count = loads_[at_index(r) * classes_.size() + index(c)];
  at(r).total += load - count;
  count = load;
}

void Pools::set_role(ReplicaId r, PoolId to, bool borrowed) {
  SLUICE_ASSERT(to.is_mixed() ? !borrowed : configured(to.owner()));
  at(r).pool = to;
  at(r).borrowed = borrowed;
}

// How many of the pool's slots are in use, of one that has no limit whether any is.
bool Pools::add_size(std::optional<ClassId> pool, double seconds) {
  const std::size_t place = pool ? index(*pool) + 1 : 0;
  if (sizes_.size() <= place) sizes_.resize(place + 1);
  double busy = 0, members = 0;
  for (const ReplicaId r : replica_order_) {
    if (!takes_sizes(r, pool)) continue;
    const std::int64_t slots = at(r).slots == kUnlimited ? 1 : at(r).slots;
    busy += static_cast<double>(std::min(at(r).total, slots)) / static_cast<double>(slots);
    ++members;
  }
  sizes_[place].set_rule(order_ == ReplicaOrder::SitaV ? IntervalRule::LeastSlowdown
                                                       : IntervalRule::EqualLoad);
  sizes_[place].set_search(size_search_);
  return sizes_[place].add(seconds, members > 0 ? busy / members : 0);
}

bool Pools::has_size_question() const noexcept {
  return std::any_of(sizes_.begin(), sizes_.end(),
                     [](const SizeIntervals& one) { return one.has_question(); });
}

std::optional<Pools::SizeQuestion> Pools::take_size_question() {
  for (std::size_t place = 0; place < sizes_.size(); ++place)
    if (auto question = sizes_[place].take_question()) return SizeQuestion{place, *std::move(question)};
  return std::nullopt;
}

bool Pools::take_size_answer(const SizeQuestion& asked, const SizeIntervals::Answer& answer) {
  SLUICE_ASSERT(asked.pool < sizes_.size());
  return sizes_[asked.pool].take_answer(asked.question, answer);
}

const SizeIntervals* Pools::sizes(std::optional<ClassId> pool) const noexcept {
  const std::size_t place = pool ? index(*pool) + 1 : 0;
  return place < sizes_.size() ? &sizes_[place] : nullptr;
}

std::optional<Pools::SizeHosts> Pools::size_hosts(std::optional<ClassId> pool, SizeStep step) const {
  const SizeIntervals* const known = sizes(pool);
  if (step == kNoSizeStep || known == nullptr || !known->known()) return std::nullopt;
  size_members_.clear();
  size_weights_.clear();
  for (const ReplicaId r : replica_order_) {
    if (!takes_sizes(r, pool)) continue;
    size_members_.push_back(r);
    size_weights_.push_back(at(r).weight);
  }
  if (size_members_.empty()) return std::nullopt;
  return SizeHosts{size_members_, size_weights_, known->range(step, size_weights_)};
}

void Pools::begin_decision(std::span<const ReplicaId> excluded) {
  changes_.clear();
  for (const ReplicaId r : excluded_)
    at(r).excluded = false;
  excluded_.clear();
  for (const ReplicaId r : excluded) {
    if (r.value() >= replicas_.size() || at(r).excluded) continue;
    at(r).excluded = true;
    excluded_.push_back(r);
  }
}

void Pools::change_role(ReplicaId r, PoolId to, ChangeKind kind) {
  changes_.push_back({r, pool(r), to, kind});
  set_role(r, to, kind == ChangeKind::Borrow);
}

void Pools::undo_returns() {
  while (!changes_.empty()) {
    const RoleChange& last = changes_.back();
    SLUICE_ASSERT(last.kind == ChangeKind::Return);
    set_role(last.replica, last.from, true);
    changes_.pop_back();
  }
}

// Classes are interned by name and the load rows widened; the order is then that of the configuration.
void Pools::reconfigure_classes(const std::vector<ClassParams>& configured) {
  const std::size_t known_before = classes_.size();
  class_order_.clear();
  for (const ClassParams& params : configured) {
    auto id = find_class(params.name);
    if (!id) {
      id = ClassId(static_cast<std::uint32_t>(classes_.size()));
      classes_.emplace_back();
    }
    classes_[id->value()] = params;
    class_order_.push_back(*id);
  }
  rank_.assign(classes_.size(), kRetired);
  watermarks_.assign(classes_.size(), 0);
  for (std::size_t i = 0; i < class_order_.size(); ++i) {
    rank_[class_order_[i].value()] = i;
    watermarks_[class_order_[i].value()] = classes_[class_order_[i].value()].watermark();
  }
  std::vector<std::int64_t> wider(replicas_.size() * classes_.size(), 0);
  for (std::size_t r = 0; r < replicas_.size(); ++r)
    std::copy_n(loads_.begin() + static_cast<std::ptrdiff_t>(r * known_before), known_before,
                wider.begin() + static_cast<std::ptrdiff_t>(r * classes_.size()));
  loads_ = std::move(wider);
}

ReplicaId Pools::append_replica(const std::string& name) {
  const ReplicaId id(static_cast<std::uint32_t>(replicas_.size()));
  names_.push_back(name);
  replicas_.emplace_back();
  loads_.resize(replicas_.size() * classes_.size(), 0);
  return id;
}

void Pools::reconfigure(const PoolConfig& config) {
  SLUICE_ASSERT(!problem_of(config));
  begin_decision({});
  order_ = config.order;
  nearest_slack_ = config.nearest_slack;
  reconfigure_classes(config.classes);
  std::unordered_map<std::string, ReplicaId> known;  // own strings: names_ grows below
  for (std::size_t i = 0; i < names_.size(); ++i)
    known.emplace(names_[i], ReplicaId(static_cast<std::uint32_t>(i)));
  std::vector<bool> kept(replicas_.size(), false);
  for (const ReplicaId r : replica_order_) {
    kept[r.value()] = pool(r).is_mixed() || this->configured(pool(r).owner());
    at(r).configured = false;
  }

  std::size_t rank = 0;
  std::int64_t taken = 0;
  const auto by_targets = [&]() -> PoolId {
    while (rank < class_order_.size() && taken >= params(class_order_[rank]).target) {
      ++rank;
      taken = 0;
    }
    ++taken;
    return rank < class_order_.size() ? PoolId(class_order_[rank]) : PoolId::mixed();
  };
  replica_order_.clear();
  for (const ReplicaConfig& r : config.replicas) {
    const auto found = known.find(r.name);
    const ReplicaId id = found != known.end() ? found->second : append_replica(r.name);
    PoolId initial = by_targets();
    if (r.pool) {
      const auto named = find_class(*r.pool);
      initial = named ? PoolId(*named) : PoolId::mixed();
    }
    replica_order_.push_back(id);
    at(id).configured = true;
    at(id).weight = r.weight;
    at(id).slots = r.max_active > 0 ? r.max_active : kUnlimited;
    if (id.value() >= kept.size() || !kept[id.value()]) set_role(id, initial, false);
  }
  changes_.reserve(replica_order_.size() + 1);
  excluded_.reserve(replicas_.size());
}

}  // namespace sluice::policy
