#include "router/admission.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace sluice::router {
namespace {

constexpr std::array kScopes = {Scope::All, Scope::User, Scope::Database, Scope::Host, Scope::Class};

Usage* in(const Usages& usages, Scope scope) {
  return usages[static_cast<std::size_t>(scope)];
}

std::size_t limit_in(const AdmissionLimits::ByName& limits, std::string_view name) {
  const auto found = limits.find(name);
  return found == limits.end() ? 0 : found->second;
}

std::size_t limit_in(const AdmissionLimits::OfDatabase& limits, std::string_view name) {
  return limits ? limits(name) : 0;
}

bool reached(std::size_t count, std::size_t limit) {
  return limit > 0 && count >= limit;
}

// The primary as a table of its own: one replica, for all classes alike. Class ids are the same in both
// tables, since both see the same configurations.
policy::PoolConfig primary_pool(const policy::PoolConfig& pools, std::optional<std::size_t> max_active) {
  policy::PoolConfig primary;
  primary.policy = policy::PolicyKind::LeastLoaded;
  primary.classes = pools.classes;
  primary.replicas = {{"primary", std::nullopt, 1, static_cast<std::int64_t>(max_active.value_or(0))}};
  return primary;
}

// Without a limit a gate parts no waiters into lines of their own; slots are counted all the same. That of a
// database is there always, since it may be paused while they wait.
policy::Gates gates_of(const SessionTag& tag) {
  policy::Gates gates{};
  for (std::size_t i = 0; i < kScopeCount; ++i) {
    Usage* const usage = tag.usages[i];
    if (usage != nullptr && (usage->servers.limit > 0 || i == static_cast<std::size_t>(Scope::Database)))
      gates[i] = &usage->servers;
  }
  return gates;
}

std::string slot_limit_name(Scope scope, const std::string& name) {
  switch (scope) {
    case Scope::All:
      return "max_total_active";
    case Scope::User:
      return "max_user_connections";
    case Scope::Database:
      return "max_db_connections";
    case Scope::Host:
      return "max_active of host " + name;
    case Scope::Class:
      return "max_active of class " + name;
  }
  return "";
}

std::string session_limit_name(Scope scope, std::string_view name) {
  switch (scope) {
    case Scope::All:
      return "max_client_conn";
    case Scope::User:
      return "max_user_client_connections";
    case Scope::Database:
      return "max_db_client_connections";
    case Scope::Host:
      return "max_host_client_connections";
    case Scope::Class:
      return "max_sessions of class " + std::string(name);
  }
  return "";
}

}  // namespace

std::chrono::nanoseconds Admission::steady_now() {
  return std::chrono::steady_clock::now().time_since_epoch();
}

Admission::Admission(const policy::PoolConfig& pools, AdmissionLimits limits, Now now)
    : now_(std::move(now)),
      replicas_(pools,
                [this](std::string_view host) -> std::span<const std::chrono::nanoseconds> {
                  const auto known = round_trips_.find(host);
                  if (known == round_trips_.end()) return {};
                  return known->second;
                }),
      primary_(primary_pool(pools, limits.primary_active), {}) {
  decisions_.reserve(kDecisionsKept);
  set_limits(std::move(limits));
}

Admission::~Admission() = default;

void Admission::set_limits(AdmissionLimits limits) {
  limits_ = std::move(limits);
  const policy::Pools& pools = replicas_.assignment.pools();
  policy::QueueSettings settings;
  settings.ageing = limits_.ageing;
  settings.discipline = limits_.discipline;
  settings.waiting_max = static_cast<std::int64_t>(limits_.waiting);
  for (const policy::ClassId c : pools.classes())
    settings.of_rank[pools.rank(c)] =
        static_cast<std::int64_t>(limit_in(limits_.waiting_of_class, pools.name(c)));
  replicas_.queue.set_settings(settings);
  primary_.queue.set_settings(settings);
  for (const Scope scope : kScopes)
    for (auto& [name, usage] : by(scope))
      usage.servers.limit = static_cast<std::int64_t>(slot_limit(scope, name));
  // Which gates part those who wait depends on the limits.
  const auto gates = [](const policy::QueueEntry& entry) {
    return gates_of(*static_cast<const Waiter&>(entry).tag_);
  };
  replicas_.queue.regroup(gates);
  primary_.queue.regroup(gates);
  budgets_.reconfigure(limits_.budgets, limits_.budget_window);
}

std::string_view Admission::name_in(Scope scope, const SessionTag& tag) const {
  switch (scope) {
    case Scope::All:
      return "";
    case Scope::User:
      return tag.user;
    case Scope::Database:
      return tag.database;
    case Scope::Host:
      return tag.host;
    case Scope::Class:
      return replicas_.assignment.pools().name(tag.priority);
  }
  return "";
}

std::size_t Admission::session_limit(Scope scope, std::string_view name) const {
  switch (scope) {
    case Scope::All:
      return limits_.total;
    case Scope::User:
      return limits_.per_user;
    case Scope::Database:
      return limit_in(limits_.per_database, name);
    case Scope::Host: {
      const std::size_t own = limit_in(limits_.of_host, name);
      return own > 0 ? own : limits_.per_host;
    }
    case Scope::Class:
      return limit_in(limits_.of_class, name);
  }
  return 0;
}

std::size_t Admission::slot_limit(Scope scope, std::string_view name) const {
  switch (scope) {
    case Scope::All:
      return limits_.servers_total;
    case Scope::User:
      return limits_.servers_per_user;
    case Scope::Database:
      return limit_in(limits_.servers_per_database, name);
    case Scope::Host:
      return limit_in(limits_.servers_of_host, name);
    case Scope::Class:
      return limit_in(limits_.servers_of_class, name);
  }
  return 0;
}

std::optional<std::string> Admission::enter(SessionTag& tag) {
  const std::lock_guard lock(mutex_);
  for (const Scope scope : kScopes) {
    const std::string_view name = name_in(scope, tag);
    const auto found = by(scope).find(name);
    if (reached(found == by(scope).end() ? 0 : found->second.sessions, session_limit(scope, name)))
      return session_limit_name(scope, name);
  }
  for (const Scope scope : kScopes) {
    const std::string_view name = name_in(scope, tag);
    const auto [entry, is_new] = by(scope).try_emplace(std::string(name));
    Usage& usage = entry->second;
    if (is_new) {
      usage.name = name;
      usage.servers.limit = static_cast<std::int64_t>(slot_limit(scope, name));
      usage.servers.closed = scope == Scope::Database && is_paused(name);
    }
    ++usage.sessions;
    tag.usages[static_cast<std::size_t>(scope)] = &usage;
  }
  return std::nullopt;
}

void Admission::leave(SessionTag& tag) {
  const std::lock_guard lock(mutex_);
  for (const Scope scope : kScopes) {
    Usage* const usage = std::exchange(tag.usages[static_cast<std::size_t>(scope)], nullptr);
    --usage->sessions;
    drop_if_unused(scope, usage);
  }
}

// Entries go when their last session and slot do, so that the maps stay as small as what is open.
void Admission::drop_if_unused(Scope scope, Usage* usage) {
  if (usage != nullptr && usage->sessions == 0 && usage->servers.active == 0)
    by(scope).erase(by(scope).find(usage->name));
}

void Admission::count_slot(const Usages& usages, int step) {
  for (const Scope scope : kScopes) {
    Usage* const usage = in(usages, scope);
    if (usage == nullptr) continue;
    usage->servers.active += step;
    SLUICE_ASSERT(usage->servers.active >= 0);
    drop_if_unused(scope, usage);
  }
}

Granted Admission::slot(const SessionTag& tag, std::optional<policy::BudgetId> budget, Servers servers,
                        const policy::Decision& decision) {
  Granted granted;
  granted.servers = servers;
  granted.replica = decision.replica;
  granted.counted_in = decision.counted_in;
  granted.outcome = decision.outcome;
  granted.by_size = decision.by_size;
  granted.limited = table(servers).assignment.pools().max_active(decision.replica) > 0 ||
                    std::any_of(tag.usages.begin(), tag.usages.end(),
                                [](const Usage* u) { return u != nullptr && u->servers.limit > 0; });
  granted.budget = budget;
  granted.usages = tag.usages;
  count_slot(tag.usages, 1);
  if (servers == Servers::Replicas) {
    granted.pool = replicas_.assignment.pools().pool(decision.replica);
    granted.changes.assign(decision.changes.begin(), decision.changes.end());
    if (tag.use == SlotUse::Session || decision.outcome != policy::Outcome::Own || !decision.changes.empty())
      record(tag, decision);
  }
  if (budget) budgets_.change_active(*budget, 1, now_());
  return granted;
}

// Slots that budgets are shares of; 0 when a server that takes sessions has no limit.
std::int64_t Admission::slots() const {
  const policy::Pools& pools = replicas_.assignment.pools();
  if (limits_.primary_active == 0U) return 0;
  std::int64_t sum = static_cast<std::int64_t>(limits_.primary_active.value_or(0));
  for (const policy::ReplicaId r : pools.replicas()) {
    if (!pools.live(r)) continue;
    if (pools.max_active(r) == 0) return 0;
    sum += pools.max_active(r);
  }
  return sum;
}

Admission::Answer Admission::ask(const SessionTag& tag, Waiter& waiter, policy::ReplicaSet failed,
                                 Servers servers, std::optional<policy::QueuePlace> place,
                                 std::span<const Granted> finished) {
  using Queue = policy::AdmissionQueue;
  Grants grants;
  std::optional<Answer> answer;
  bool search = false;
  {
    const std::lock_guard lock(mutex_);
    for (const Granted& slot : finished)
      take_back(slot);
    if (!finished.empty()) serve(grants);
    Queue& queue = table(servers).queue;
    const std::chrono::nanoseconds now = now_();
    const bool beyond = tag.budget && budgets_.beyond(*tag.budget, slots(), now);
    const bool refuses = beyond && budgets_.mode(*tag.budget) == policy::BudgetMode::Enforce;
    policy::Decision decision;
    const policy::Arrival arrival{tag.priority, tag.host, tag.size};
    if (place) waiter.keep_place(*place);
    if (queue.arrive(waiter, arrival, failed, now)) serve(grants);
    switch (queue.ask(waiter, arrival, gates_of(tag), failed, now,
                      refuses ? Queue::Wait::No : Queue::Wait::Yes, decision)) {
      case Queue::Answer::Granted:
        answer = slot(tag, tag.budget, servers, decision);
        std::get<Granted>(*answer).place = waiter.place();
        serve(grants);
        break;
      case Queue::Answer::Queued:
        waiter.tag_ = &tag;
        waiter.servers_ = servers;
        waiter.budget_ = tag.budget;
        if (tag.budget) budgets_.change_waiting(*tag.budget, 1);
        if (beyond) budgets_.count_refusal(*tag.budget);
        answer = Queued{beyond ? tag.budget : std::nullopt};
        break;
      case Queue::Answer::NoReplica:
        if (servers == Servers::Replicas) record(tag, decision);
        answer = Rejected{};
        serve(grants);  // replicas may have gone home
        break;
      case Queue::Answer::WouldWait:
        budgets_.count_refusal(*tag.budget);
        answer = Rejected{"budget " + budgets_.name(*tag.budget), tag.budget};
        break;
      case Queue::Answer::Full:
        answer = Rejected{"max_waiting", {}};
        break;
      case Queue::Answer::ClassFull:
        answer = Rejected{"max_waiting of class " + replicas_.assignment.pools().name(tag.priority), {}};
        break;
    }
    if (search_due_ && !search_asked_) search = search_asked_ = replicas_.assignment.has_size_question();
  }
  deliver(grants);
  if (search) search_due_();
  return *std::move(answer);
}

std::string Admission::waits_for(const Waiter& waiter) const {
  const std::lock_guard lock(mutex_);
  if (waiter.queued())
    for (const Scope scope : kScopes)
      if (const Usage* const usage = in(waiter.tag_->usages, scope);
          usage != nullptr && !usage->servers.open())
        return usage->servers.closed ? "" : slot_limit_name(scope, usage->name);
  return "max_active";
}

bool Admission::withdraw(Waiter& waiter) {
  const std::lock_guard lock(mutex_);
  if (!waiter.queued()) return false;
  table(waiter.servers_).queue.withdraw(waiter);
  if (waiter.budget_) budgets_.change_waiting(*waiter.budget_, -1);
  return true;
}

// Gives out what can be given, until nobody who waits can have anything.
void Admission::serve(Grants& grants) {
  for (const Servers servers : {Servers::Replicas, Servers::Primary}) {
    policy::AdmissionQueue& queue = table(servers).queue;
    if (queue.waiting() == 0) continue;
    const std::chrono::nanoseconds now = now_();
    policy::Decision decision;
    while (policy::QueueEntry* const entry = queue.next(now, decision)) {
      Waiter& waiter = static_cast<Waiter&>(*entry);
      if (waiter.budget_) budgets_.change_waiting(*waiter.budget_, -1);
      waiter.slot_ = slot(*waiter.tag_, waiter.budget_, servers, decision);
      waiter.slot_->place = waiter.place();
      waiter.slot_->waited = now - waiter.place().since;
      waiter.next_granted_ = nullptr;
      (grants.last != nullptr ? grants.last->next_granted_ : grants.first) = &waiter;
      grants.last = &waiter;
    }
  }
}

// A waiter may be gone as soon as it has been told.
void Admission::deliver(Grants grants) {
  while (Waiter* const waiter = grants.first) {
    grants.first = waiter->next_granted_;
    Granted granted = *std::move(waiter->slot_);
    waiter->slot_.reset();
    waiter->granted(std::move(granted));
  }
}

// What may free a slot, or make one.
template <class Change>
void Admission::change(Change apply) {
  Grants grants;
  {
    const std::lock_guard lock(mutex_);
    apply();
    serve(grants);
  }
  deliver(grants);
}

void Admission::take_back(const Granted& granted) {
  table(granted.servers).assignment.close(granted.replica, granted.counted_in);
  count_slot(granted.usages, -1);
  if (granted.budget) budgets_.change_active(*granted.budget, -1, now_());
}

void Admission::close(std::span<const Granted> all) {
  change([&] {
    for (const Granted& slot : all)
      take_back(slot);
  });
}

void Admission::set_paused(Paused paused) {
  change([&] {
    paused_ = std::move(paused);
    for (auto& [name, usage] : by(Scope::Database))
      usage.servers.closed = is_paused(name);
  });
}

void Admission::set_up(policy::ReplicaId replica, bool up) {
  change([&] { replicas_.assignment.set_up(replica, up); });
}

bool Admission::set_draining(std::string_view replica, bool draining) {
  bool known = false;
  change([&] {
    policy::Assignment& assignment = replicas_.assignment;
    const auto id = assignment.find_replica(replica);
    known = id && assignment.pools().configured(*id);
    if (known) assignment.set_draining(*id, draining);
  });
  return known;
}

bool Admission::draining(policy::ReplicaId replica) const {
  const std::lock_guard lock(mutex_);
  return replicas_.assignment.pools().draining(replica);
}

std::optional<policy::ReplicaId> Admission::find_replica(std::string_view name) const {
  const std::lock_guard lock(mutex_);
  return replicas_.assignment.find_replica(name);
}

std::optional<policy::ClassId> Admission::find_class(std::string_view name) const {
  const std::lock_guard lock(mutex_);
  return replicas_.assignment.find_class(name);
}

std::optional<policy::BudgetId> Admission::find_budget(std::string_view name) const {
  const std::lock_guard lock(mutex_);
  return budgets_.find(name);
}

void Admission::reconfigure(const policy::PoolConfig& pools, AdmissionLimits limits) {
  change([&] {
    replicas_.assignment.reconfigure(pools);
    primary_.assignment.reconfigure(primary_pool(pools, limits.primary_active));
    set_limits(std::move(limits));
  });
}

void Admission::set_class_weight(policy::ClassId session_class, Weight weight) {
  change([&] { replicas_.assignment.set_class_weight(session_class, weight); });
}

void Admission::set_round_trips(RoundTrips round_trips) {
  const std::lock_guard lock(mutex_);
  round_trips_.swap(round_trips);
}

policy::Snapshot Admission::snapshot() const {
  const std::lock_guard lock(mutex_);
  return replicas_.assignment.snapshot();
}

std::vector<policy::SizePoolSnapshot> Admission::size_pools() const {
  const std::lock_guard lock(mutex_);
  return replicas_.assignment.size_pools();
}

std::vector<Admission::ClassWaiting> Admission::waiting() const {
  const std::lock_guard lock(mutex_);
  const std::chrono::nanoseconds now = now_();
  std::vector<ClassWaiting> all;
  for (const policy::ClassId c : replicas_.assignment.pools().classes())
    all.push_back({c, replicas_.queue.waiting(c) + primary_.queue.waiting(c),
                   now - std::min(replicas_.queue.oldest(c, now), primary_.queue.oldest(c, now))});
  return all;
}

std::vector<policy::BudgetState> Admission::budgets() const {
  const std::lock_guard lock(mutex_);
  return budgets_.states(now_());
}

std::int64_t Admission::primary_active() const {
  const std::lock_guard lock(mutex_);
  return primary_.assignment.pools().total_load(policy::ReplicaId(0));
}

bool Admission::any_live(policy::ReplicaSet besides) const {
  const std::lock_guard lock(mutex_);
  const policy::Pools& pools = replicas_.assignment.pools();
  const auto all = pools.replicas();
  return std::any_of(all.begin(), all.end(), [&](policy::ReplicaId r) {
    return pools.live(r) && std::find(besides.begin(), besides.end(), r) == besides.end();
  });
}

std::size_t Admission::session_count() const {
  const std::lock_guard lock(mutex_);
  const auto all = by(Scope::All).find("");
  return all == by(Scope::All).end() ? 0 : all->second.sessions;
}

std::map<std::string, std::size_t, std::less<>> Admission::sessions_by_host() const {
  const std::lock_guard lock(mutex_);
  std::map<std::string, std::size_t, std::less<>> sessions;
  for (const auto& [name, usage] : by(Scope::Host))
    if (usage.sessions > 0) sessions.emplace(name, usage.sessions);
  return sessions;
}

}  // namespace sluice::router
