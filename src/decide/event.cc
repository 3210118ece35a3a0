#include "decide/event.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "decide/fields.h"
#include "decide/json_line.h"

namespace sluice::decide {
namespace {

using nlohmann::json;
using policy::kParameterMax;

policy::ClassParams read_class(const json& value, const std::string& where, std::string& problem) {
  Fields fields(value, where, problem);
  fields.allow_only({"name", "saturation", "return_ratio", "floor", "target", "weight"});
  policy::ClassParams params;
  params.name = fields.text("name");
  params.saturation = fields.integer("saturation", 1, kParameterMax);
  const std::string ratio = fields.text("return_ratio");
  if (const auto parsed = Ratio::parse(ratio))
    params.return_ratio = *parsed;
  else
    fields.fail("'return_ratio' must be a decimal string from \"0\" to \"1\" with at most 9 decimals");
  params.floor = fields.integer("floor", 0, kParameterMax);
  params.target = fields.integer("target", 0, kParameterMax);
  if (fields.has("weight")) params.weight = fields.weight("weight");
  return params;
}

policy::ReplicaConfig read_replica(const json& value, const std::string& where, std::string& problem) {
  policy::ReplicaConfig replica;
  if (value.is_string()) {
    replica.name = value.get<std::string>();
    return replica;
  }
  if (!value.is_object()) {
    if (problem.empty()) problem = where + "must be a name or an object";
    return replica;
  }
  Fields fields(value, where, problem);
  fields.allow_only({"name", "weight", "max_active"});
  replica.name = fields.text("name");
  if (fields.has("weight")) replica.weight = fields.integer("weight", 1, policy::kWeightMax);
  if (fields.has("max_active")) replica.max_active = fields.integer("max_active", 0, kParameterMax);
  return replica;
}

// "pools": {"premium": ["r0"], ...}. That the pools exist is checked with the whole configuration.
void read_pools(Fields& fields, policy::PoolConfig& config) {
  std::unordered_map<std::string, policy::ReplicaConfig*> by_name;
  for (policy::ReplicaConfig& r : config.replicas)
    by_name.emplace(r.name, &r);
  for (const auto& entry : fields.maybe_object("pools").items()) {
    const std::string& pool = entry.key();
    const json& members = entry.value();
    const std::string whose = "pools: " + in_json_quotes(pool);
    const auto fail = [&](const std::string& reason) { fields.fail(whose + reason); };
    const bool known = pool == "mixed" || std::any_of(config.classes.begin(), config.classes.end(),
                                                      [&](const auto& c) { return c.name == pool; });
    if (!known) return fail(" is neither a class nor mixed");
    if (!members.is_array()) return fail(" must be an array of replicas");
    for (const json& member : members) {
      if (!member.is_string()) return fail(" must be an array of replicas");
      const auto& name = member.get_ref<const std::string&>();
      const auto found = by_name.find(name);
      if (found == by_name.end()) return fail(": unknown replica " + in_json_quotes(name));
      if (found->second->pool) return fail(": replica " + in_json_quotes(name) + " is already in a pool");
      found->second->pool = pool;
    }
  }
}

// "rtt": {"host": {"r0": 0.25, ...}, ...}, in milliseconds.
void read_round_trips(Fields& fields, ConfigEvent& event) {
  for (const auto& host : fields.maybe_object("rtt").items()) {
    const std::string whose = "rtt: " + in_json_quotes(host.key());
    if (!host.value().is_object()) return fields.fail(whose + " must be an object of replicas");
    for (const auto& entry : host.value().items()) {
      const bool known = std::any_of(event.config.replicas.begin(), event.config.replicas.end(),
                                     [&](const auto& r) { return r.name == entry.key(); });
      if (!known) return fields.fail(whose + ": unknown replica " + in_json_quotes(entry.key()));
      const double ms = entry.value().is_number() ? entry.value().get<double>() : 0;
      if (!(ms > 0 && ms <= 1e6))
        return fields.fail(whose + ": " + in_json_quotes(entry.key()) + " must be milliseconds, above 0");
      event.round_trips[host.key()][entry.key()] = std::chrono::nanoseconds(std::llround(ms * 1e6));
    }
  }
}

// "order" is its former name.
void read_order(Fields& fields, policy::PoolConfig& config) {
  if (fields.has("order") && fields.has("order_within_pool"))
    return fields.fail("'order' is the former name of 'order_within_pool': give one of them");
  const auto order = fields.maybe_text(fields.has("order") ? "order" : "order_within_pool");
  if (!order) return;
  if (const auto parsed = policy::parse_order(*order))
    config.order = *parsed;
  else
    fields.fail("unknown order " + in_json_quotes(*order) +
                "; known are least_loaded, nearest, sita_e, sita_v");
}

ConfigEvent read_config(Fields& fields, std::string& problem) {
  fields.allow_only({"op", "policy", "classes", "replicas", "pools", "seed", "order_within_pool", "order",
                     "nearest_slack", "rtt"});
  ConfigEvent event;
  policy::PoolConfig& config = event.config;
  const std::string name = fields.text("policy");
  if (const auto kind = policy::parse_policy(name))
    config.policy = *kind;
  else
    fields.fail("unknown policy " + in_json_quotes(name) +
                "; known are plb, round_robin, least_loaded, dedicated, random_two_choices, proportional");
  std::size_t index = 0;
  for (const json& c : fields.array("classes"))
    config.classes.push_back(read_class(c, "classes[" + std::to_string(index++) + "]: ", problem));
  index = 0;
  for (const json& r : fields.array("replicas"))
    config.replicas.push_back(read_replica(r, "replicas[" + std::to_string(index++) + "]: ", problem));
  if (config.replicas.empty()) fields.fail("there is no replica");
  config.seed = fields.unsigned_integer("seed", 1);
  read_pools(fields, config);
  read_order(fields, config);
  if (fields.has("nearest_slack")) config.nearest_slack = fields.integer("nearest_slack", 0, kParameterMax);
  read_round_trips(fields, event);
  if (problem.empty()) problem = problem_of(config).value_or("");
  return event;
}

SetEvent read_set(Fields& fields) {
  fields.allow_only({"op", "replica", "pool", "borrowed", "loads"});
  SetEvent event;
  event.replica = fields.text("replica");
  event.pool = fields.text("pool");
  event.borrowed = fields.flag("borrowed", false);
  if (event.borrowed && event.pool == "mixed") fields.fail("a replica of the mixed pool cannot be borrowed");
  for (const auto& [name, load] : fields.maybe_object("loads").items()) {
    const auto number = whole_number(load, 0, kParameterMax);
    if (!number)
      fields.fail("loads: " + in_json_quotes(name) + " must be a whole number in 0.." +
                  std::to_string(kParameterMax));
    event.loads[name] = number.value_or(0);
  }
  return event;
}

OpenEvent read_open(Fields& fields) {
  fields.allow_only({"op", "id", "class", "host", "size"});
  OpenEvent event;
  event.id = fields.text("id");
  event.session_class = fields.text("class");
  event.host = fields.maybe_text("host").value_or("");
  event.size = fields.maybe_amount("size");
  return event;
}

CloseEvent read_close(Fields& fields) {
  fields.allow_only({"op", "id", "class", "replica"});
  CloseEvent event;
  if (fields.has("id")) {
    event.id = fields.text("id");
    if (fields.has("class") || fields.has("replica"))
      fields.fail("close takes 'id', or 'class' and 'replica'");
    return event;
  }
  if (!fields.has("class") && !fields.has("replica"))
    fields.fail("close needs 'id', or 'class' and 'replica'");
  event.session_class = fields.text("class");
  event.replica = fields.text("replica");
  return event;
}

MarkEvent read_mark(Fields& fields, Mark mark) {
  fields.allow_only({"op", "replica"});
  return {mark, fields.text("replica")};
}

}  // namespace

ParsedEvent parse_event(const json& value) {
  ParsedEvent out;
  Fields fields(value, "", out.problem);
  const std::string op = fields.text("op");
  if (op == "config")
    out.event = read_config(fields, out.problem);
  else if (op == "set")
    out.event = read_set(fields);
  else if (op == "open")
    out.event = read_open(fields);
  else if (op == "close")
    out.event = read_close(fields);
  else if (op == "down")
    out.event = read_mark(fields, Mark::Down);
  else if (op == "up")
    out.event = read_mark(fields, Mark::Up);
  else if (op == "drain")
    out.event = read_mark(fields, Mark::Drain);
  else if (op == "undrain")
    out.event = read_mark(fields, Mark::Undrain);
  else
    fields.fail("unknown op " + in_json_quotes(op) +
                "; known are config, set, open, close, down, up, drain, undrain");
  return out;
}

}  // namespace sluice::decide
