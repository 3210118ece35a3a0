#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include <nlohmann/json.hpp>

#include "sluice/policy/pool_config.h"

namespace sluice::decide {

// The events of the input, one struct per "op". Names are not yet looked up.

struct ConfigEvent {
  policy::PoolConfig config;  // problem_of(config) is nullopt
  std::map<std::string, std::map<std::string, std::chrono::nanoseconds>> round_trips;  // by host, by replica
};
struct SetEvent {
  std::string replica, pool;
  bool borrowed = false;
  std::map<std::string, std::int64_t> loads;  // by class, each 0..kParameterMax
};
struct OpenEvent {
  std::string id, session_class, host;
  std::optional<double> size;
};
struct CloseEvent {
  std::string id;  // empty: by class and replica
  std::string session_class, replica;
};
enum class Mark { Down, Up, Drain, Undrain };
struct MarkEvent {
  Mark mark = Mark::Down;
  std::string replica;
};
using Event = std::variant<ConfigEvent, SetEvent, OpenEvent, CloseEvent, MarkEvent>;

struct ParsedEvent {
  Event event;
  std::string problem;  // empty if `event` is good
};

// Checks every field's presence, type and range, and that there is none it does not know.
ParsedEvent parse_event(const nlohmann::json&);

}  // namespace sluice::decide
