#include "decide/engine.h"

#include "decide/json_line.h"

namespace sluice::decide {
namespace {

using policy::ClassId;
using policy::PoolId;
using policy::ReplicaId;

Applied problem(std::string reason) {
  return {std::nullopt, std::move(reason)};
}
Applied unknown_replica(const std::string& name) {
  return problem("unknown replica " + in_json_quotes(name));
}
Applied unknown_class(const std::string& name) {
  return problem("unknown class " + in_json_quotes(name));
}

OutputLine describe(const std::string& id, const policy::Decision& decision, const policy::Pools& pools) {
  OutputLine line;
  line["id"] = id;
  if (decision.outcome == policy::Outcome::Refused)
    line["replica"] = nullptr;
  else
    line["replica"] = pools.name(decision.replica);
  line["outcome"] = policy::outcome_name(decision.outcome);
  line["changes"] = OutputLine::array();
  for (const policy::RoleChange& change : decision.changes) {
    OutputLine& entry = line["changes"].emplace_back();
    entry["replica"] = pools.name(change.replica);
    entry["from"] = pools.pool_name(change.from);
    entry["to"] = pools.pool_name(change.to);
    entry["kind"] = policy::change_kind_name(change.kind);
  }
  return line;
}

}  // namespace

Applied Engine::apply(const Event& event) {
  if (!assignment_ && !std::holds_alternative<ConfigEvent>(event))
    return problem("there is no configuration yet: a config event must come first, or -c FILE be given");
  return std::visit([this](const auto& e) { return on(e); }, event);
}

std::optional<ReplicaId> Engine::configured_replica(const std::string& name) const {
  const auto r = assignment_->find_replica(name);
  return r && assignment_->pools().configured(*r) ? r : std::nullopt;
}

std::optional<ClassId> Engine::configured_class(const std::string& name) const {
  const auto c = assignment_->find_class(name);
  return c && assignment_->pools().configured(*c) ? c : std::nullopt;
}

Applied Engine::on(const ConfigEvent& event) {
  if (assignment_)
    assignment_->reconfigure(event.config);
  else
    assignment_.emplace(event.config);
  round_trips_.clear();
  for (const auto& [host, by_replica] : event.round_trips)
    for (const auto& [replica, round_trip] : by_replica) {
      const auto index = assignment_->find_replica(replica)->value();
      auto& row = round_trips_[host];
      if (row.size() <= index) row.resize(index + 1);
      row[index] = round_trip;
    }
  return {};
}

Applied Engine::on(const SetEvent& event) {
  if (opened_ > 0) return problem("set is possible before the first open only");
  const auto r = configured_replica(event.replica);
  if (!r) return unknown_replica(event.replica);
  PoolId pool = PoolId::mixed();
  if (event.pool != "mixed") {
    const auto c = configured_class(event.pool);
    if (!c) return problem("pool " + in_json_quotes(event.pool) + " is neither a class nor mixed");
    pool = *c;
  }
  for (const auto& [name, load] : event.loads)
    if (!configured_class(name)) return unknown_class(name);

  std::vector<std::int64_t> loads;
  for (const ClassId c : assignment_->pools().classes()) {
    const auto given = event.loads.find(assignment_->pools().name(c));
    loads.push_back(given == event.loads.end() ? 0 : given->second);
    group(*r, c).anonymous = loads.back();
  }
  assignment_->preset(*r, pool, event.borrowed, loads);
  return {};
}

Applied Engine::on(const OpenEvent& event) {
  const auto c = configured_class(event.session_class);
  if (!c) return unknown_class(event.session_class);
  if (sessions_.contains(event.id))
    return problem("session " + in_json_quotes(event.id) + " is already open");
  const auto round_trips = round_trips_.find(event.host);
  policy::Arrival arrival{*c, event.host, event.size};
  if (round_trips != round_trips_.end()) arrival.round_trips = round_trips->second;
  const policy::Decision decision = assignment_->admit(arrival);
  const std::uint64_t number = opened_++;
  if (decision.outcome != policy::Outcome::Refused) {
    sessions_.emplace(event.id, Session{decision.replica, *c, number});
    group(decision.replica, *c).by_age.emplace(number, event.id);
  }
  return {describe(event.id, decision, assignment_->pools()), ""};
}

Applied Engine::close_by_id(const std::string& id) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return problem("no open session " + in_json_quotes(id));
  const Session session = found->second;
  group(session.replica, session.session_class).by_age.erase(session.number);
  sessions_.erase(found);
  assignment_->close(session.replica, session.session_class);
  return {};
}

Applied Engine::on(const CloseEvent& event) {
  if (!event.id.empty()) return close_by_id(event.id);
  // Those that a reload removed may still host sessions.
  const auto r = assignment_->find_replica(event.replica);
  if (!r) return unknown_replica(event.replica);
  const auto c = assignment_->find_class(event.session_class);
  if (!c) return unknown_class(event.session_class);
  Group& sessions = group(*r, *c);
  if (sessions.anonymous > 0) {
    --sessions.anonymous;
    assignment_->close(*r, *c);
    return {};
  }
  if (sessions.by_age.empty())
    return problem("replica " + in_json_quotes(event.replica) + " has no session of class " +
                   in_json_quotes(event.session_class) + " to close");
  return close_by_id(std::string(sessions.by_age.begin()->second));
}

Applied Engine::on(const MarkEvent& event) {
  const auto r = configured_replica(event.replica);
  if (!r) return unknown_replica(event.replica);
  switch (event.mark) {
    case Mark::Down:
      assignment_->set_up(*r, false);
      break;
    case Mark::Up:
      assignment_->set_up(*r, true);
      break;
    case Mark::Drain:
      assignment_->set_draining(*r, true);
      break;
    case Mark::Undrain:
      assignment_->set_draining(*r, false);
      break;
  }
  return {};
}

OutputLine Engine::state() const {
  OutputLine line;
  line["op"] = "state";
  line["replicas"] = OutputLine::array();
  if (!assignment_) return line;
  const policy::Pools& pools = assignment_->pools();
  for (const ReplicaId r : pools.replicas()) {
    OutputLine& entry = line["replicas"].emplace_back();
    entry["replica"] = pools.name(r);
    entry["pool"] = pools.pool_name(pools.pool(r));
    entry["borrowed"] = pools.borrowed(r);
    entry["up"] = pools.up(r);
    OutputLine& loads = entry["loads"] = OutputLine::object();
    for (const ClassId c : pools.classes())
      loads[pools.name(c)] = pools.load(r, c);
  }
  return line;
}

}  // namespace sluice::decide
