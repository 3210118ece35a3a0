#include "sim/what_if.h"

#include <algorithm>

#include "sluice/policy/assignment.h"

#include "base/text.h"

namespace sluice::sim {
namespace {

std::string split_name(const std::vector<std::int64_t>& split) {
  std::string out;
  for (const std::int64_t count : split)
    out += (out.empty() ? "" : "+") + std::to_string(count);
  return out;
}

void resize_replicas(policy::PoolConfig& config, std::size_t count) {
  const std::size_t recorded = config.replicas.size();
  config.replicas.resize(std::min(count, recorded));
  for (std::size_t i = recorded; i < count; ++i) {
    policy::ReplicaConfig more = config.replicas.front();
    more.name = "added-" + std::to_string(i - recorded + 1);
    more.pool.reset();
    config.replicas.push_back(std::move(more));
  }
}

// Calls each(value) for all values, or once with none.
template <class T, class Each>
void for_all(const std::vector<T>& values, Each each) {
  if (values.empty()) return each(static_cast<const T*>(nullptr));
  for (const T& value : values)
    each(&value);
}

void add_name(std::string& name, const std::string& part) {
  name += (name.empty() ? "" : ", ") + part;
}

// Whatever a name has in it, as a string in YAML.
std::string yaml_quoted(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') out += '\\';
    if (code < 0x20 || code == 0x7F) {
      out += "\\x";
      out += {kDigits[code >> 4], kDigits[code & 0xF]};
    } else {
      out += c;
    }
  }
  return out + "\"";
}

// Where replicas are is not in a trace, so what belongs to their entries can only be said beside.
std::string pools_text(const policy::PoolConfig& config) {
  std::string out;
  for (const policy::ReplicaConfig& r : config.replicas)
    if (r.pool) out += "#   " + yaml_quoted(r.name) + ": {pool: " + yaml_quoted(*r.pool) + "}\n";
  return out.empty() ? "# No replica has a pool of its own: remove each \"pool\" from the replicas.\n"
                     : "# Replicas with a pool of their own; remove each other \"pool\":\n" + out;
}

// Of a configuration without a problem: it has an order by size that its policy does not go by.
bool has_unused_order(const policy::PoolConfig& config) {
  return policy::is_by_size(config.order) && !policy::Assignment(config).by_size();
}

// "" or why such a plan says nothing.
std::string problem_of(const RecordedTrace& trace, const ReplayPlan& plan) {
  if (auto problem = policy::problem_of(plan.config)) return *problem;
  if (plan.config.order == policy::ReplicaOrder::Nearest && trace.config.order != plan.config.order)
    return "a trace holds no round trips";
  if (has_unused_order(plan.config)) return "this policy does not go by size";
  if (goes_by_size(plan) && plan.sizes == ReplayPlan::Sizes::Expected && trace.sized == 0)
    return "the trace holds no expected sizes; record one with size_learning: on, or try --sizes measured";
  return "";
}

// What each list's place stands for in one combination; null: as recorded.
struct Choices {
  const policy::PolicyKind* kind = nullptr;
  const std::size_t* count = nullptr;
  const std::vector<std::int64_t>* split = nullptr;
  const std::int64_t* max_active = nullptr;
  const policy::ReplicaOrder* order = nullptr;
  const policy::QueueDiscipline* queue = nullptr;
  const double* load = nullptr;
};

void choose(ReplayPlan& plan, const Choices& chosen) {
  if (chosen.kind != nullptr) plan.config.policy = *chosen.kind;
  add_name(plan.name, std::string(policy::policy_name(plan.config.policy)));
  if (chosen.count != nullptr) {
    resize_replicas(plan.config, *chosen.count);
    add_name(plan.name, std::to_string(*chosen.count) + " replicas");
  }
  if (chosen.split != nullptr) {
    apply_split(plan.config, *chosen.split);
    add_name(plan.name, split_name(*chosen.split));
  }
  if (chosen.max_active != nullptr) {
    for (policy::ReplicaConfig& r : plan.config.replicas)
      r.max_active = *chosen.max_active;
    add_name(plan.name, "max_active " + std::to_string(*chosen.max_active));
  }
  if (chosen.order == nullptr) {
    drop_unused_order(plan.config);
  } else {
    plan.config.order = *chosen.order;
    // The name of the policy least_loaded says the same.
    if (*chosen.order != policy::ReplicaOrder::LeastLoaded ||
        plan.config.policy != policy::PolicyKind::LeastLoaded)
      add_name(plan.name, std::string(policy::order_name(*chosen.order)));
  }
  if (chosen.queue != nullptr) {
    plan.queue.discipline = *chosen.queue;
    add_name(plan.name, std::string(policy::discipline_name(*chosen.queue)));
  }
  if (chosen.load != nullptr) {
    plan.load = *chosen.load;
    add_name(plan.name, "load " + digits(*chosen.load, 3));
  }
}

// Calls each(choices) for every combination.
template <class Each>
void for_combinations(const WhatIf& what, Each each) {
  Choices chosen;
  for_all(what.policies, [&](const policy::PolicyKind* kind) {
    chosen.kind = kind;
    for_all(what.replica_counts, [&](const std::size_t* count) {
      chosen.count = count;
      for_all(what.splits, [&](const std::vector<std::int64_t>* split) {
        chosen.split = split;
        for_all(what.max_active, [&](const std::int64_t* max_active) {
          chosen.max_active = max_active;
          for_all(what.orders, [&](const policy::ReplicaOrder* order) {
            chosen.order = order;
            for_all(what.queues, [&](const policy::QueueDiscipline* queue) {
              chosen.queue = queue;
              for_all(what.loads, [&](const double* load) {
                chosen.load = load;
                each(chosen);
              });
            });
          });
        });
      });
    });
  });
}

}  // namespace

void apply_split(policy::PoolConfig& config, const std::vector<std::int64_t>& split) {
  for (std::size_t c = 0; c < config.classes.size(); ++c)
    config.classes[c].target = c < split.size() ? split[c] : 0;
  for (policy::ReplicaConfig& r : config.replicas)
    r.pool.reset();
}

void drop_unused_order(policy::PoolConfig& config) {
  if (!policy::problem_of(config) && has_unused_order(config))
    config.order = policy::ReplicaOrder::LeastLoaded;
}

std::string apply_override(policy::PoolConfig& config, const std::string& text) {
  const std::size_t equals = text.find('='), dot = text.rfind('.', equals);
  const std::string shown = "'" + text.substr(0, 80) + "'";
  if (equals == text.npos || dot == text.npos)
    return shown + " is not CLASS.PARAMETER=VALUE, as premium.saturation=20";
  const std::string name = text.substr(0, dot), parameter = text.substr(dot + 1, equals - dot - 1);
  const std::string_view value = std::string_view(text).substr(equals + 1);
  const auto found = std::find_if(config.classes.begin(), config.classes.end(),
                                  [&](const policy::ClassParams& c) { return c.name == name; });
  if (found == config.classes.end()) return shown + ": the trace has no such class";
  if (parameter == "weight") {
    const auto weight = Weight::parse(value);
    if (!weight) return shown + ": a weight is a decimal from 0.001 to 1000";
    found->weight = *weight;
    return "";
  }
  if (parameter == "return_ratio") {
    const auto ratio = Ratio::parse(value);
    if (!ratio) return shown + ": return_ratio is a decimal from 0 to 1";
    found->return_ratio = *ratio;
    return "";
  }
  const auto number = to_number<std::int64_t>(value);
  if (!number) return shown + ": is not a whole number";
  if (parameter == "saturation")
    found->saturation = *number;
  else if (parameter == "floor")
    found->floor = *number;
  else if (parameter == "target")
    found->target = *number;
  else
    return shown + ": parameters are saturation, return_ratio, floor, target and weight";
  return "";
}

ReplayPlans plans_of(const RecordedTrace& trace, double cores, const WhatIf& what) {
  ReplayPlans out;
  policy::PoolConfig base = trace.config;
  for (const std::string& text : what.overrides)
    if (std::string problem = apply_override(base, text); !problem.empty()) return {{}, std::move(problem)};
  for_combinations(what, [&](const Choices& chosen) {
    ReplayPlan plan;
    plan.config = base;
    plan.queue = trace.queue;
    plan.sizes = what.sizes;
    plan.cores = cores;
    choose(plan, chosen);
    for (const std::string& text : what.overrides)
      add_name(plan.name, text);
    if (what.hold && plan.config.policy == policy::PolicyKind::Proportional) {
      plan.hold.emplace().settings.target = *what.hold;
      add_name(plan.name, "hold " + what.hold->to_string());
    }
    if (out.problem.empty())
      if (const std::string problem = problem_of(trace, plan); !problem.empty())
        out.problem = plan.name + ": " + problem;
    out.plans.push_back(std::move(plan));
  });
  return out;
}

std::string yaml_of(const policy::PoolConfig& config, const std::optional<policy::WeightTarget>& hold) {
  std::string out = "policy: " + std::string(policy::policy_name(config.policy)) + "\n";
  if (hold) out += "weight_target: " + yaml_quoted(hold->to_string()) + "\n";
  out += "classes:\n";
  for (const policy::ClassParams& c : config.classes)
    out += "- {name: " + yaml_quoted(c.name) + ", saturation: " + std::to_string(c.saturation) +
           ", return_ratio: " + c.return_ratio.to_string() + ", floor: " + std::to_string(c.floor) +
           ", target: " + std::to_string(c.target) + ", weight: " + c.weight.to_string() + "}\n";
  return out + pools_text(config);
}

}  // namespace sluice::sim
