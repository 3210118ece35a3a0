#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "sluice/policy/assignment.h"

#include "decide/event.h"

namespace sluice::decide {

using OutputLine = nlohmann::ordered_json;  // keys in the order they were put in

struct Applied {
  std::optional<OutputLine> line;  // the answer to an open
  std::string problem;             // empty if the event was applied; else nothing was changed
};

// An Assignment driven by events, with the sessions it has open.
class Engine {
 public:
  Engine() = default;
  // problem_of(config) must be nullopt.
  explicit Engine(const policy::PoolConfig& config) : assignment_(config) {}

  Applied apply(const Event&);
  // {"op":"state","replicas":[...]}: the configured replicas in order.
  OutputLine state() const;

 private:
  struct Session {
    policy::ReplicaId replica;
    policy::ClassId session_class;
    std::uint64_t number;  // in the order of opening
  };
  struct Group {  // of one class on one replica; load = anonymous + by_age.size()
    std::int64_t anonymous = 0;
    std::map<std::uint64_t, std::string> by_age;  // number to id
  };

  Applied on(const ConfigEvent&);
  Applied on(const SetEvent&);
  Applied on(const OpenEvent&);
  Applied on(const CloseEvent&);
  Applied on(const MarkEvent&);
  Applied close_by_id(const std::string& id);
  std::optional<policy::ReplicaId> configured_replica(const std::string& name) const;
  std::optional<policy::ClassId> configured_class(const std::string& name) const;
  Group& group(policy::ReplicaId r, policy::ClassId c) { return groups_[{r.value(), c.value()}]; }

  std::map<std::string, std::vector<std::chrono::nanoseconds>> round_trips_;  // by host; by ReplicaId
  std::optional<policy::Assignment> assignment_;  // none before the first configuration
  std::unordered_map<std::string, Session> sessions_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Group> groups_;
  std::uint64_t opened_ = 0;
};

}  // namespace sluice::decide
