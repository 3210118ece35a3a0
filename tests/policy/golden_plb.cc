#include "tests/policy/golden_plb.h"

#include <cstdlib>
#include <map>
#include <sstream>
#include <stdexcept>

#include <yaml-cpp/yaml.h>

namespace sluice::policy {
namespace {

std::string class_of(const std::string& letter) {
  return letter == "P" ? "premium" : "freemium";
}

std::string pool_of(const std::string& role) {
  return role == "M" ? "mixed" : class_of(role.substr(role.size() - 1));
}

bool borrowed_role(const std::string& role) {
  return role.size() == 2;
}

std::vector<GoldenReplica> parse_state(const std::string& text) {
  std::vector<GoldenReplica> state;
  std::istringstream in(text);
  for (std::string token; in >> token;) {
    GoldenReplica& r = state.emplace_back();
    if (token.back() == '!') {
      r.up = false;
      token.pop_back();
    }
    const auto colon = token.find(':');
    const auto slash = token.find('/');
    r.pool = pool_of(token.substr(0, colon));
    r.borrowed = borrowed_role(token.substr(0, colon));
    r.premium = std::stol(token.substr(colon + 1, slash - colon - 1));
    r.freemium = std::stol(token.substr(slash + 1));
  }
  return state;
}

std::string outcome_of(const std::string& reason) {
  static const std::map<std::string, std::string> names = {
      {"own", "own"},           {"mixed", "borrowed_mixed"}, {"freemium-donor", "borrowed_lower"},
      {"fallback", "fallback"}, {"global", "fallback_any"},  {"premium-donor", "borrowed_higher"},
  };
  return names.at(reason);
}

GoldenStep parse_arrival(const std::string& letter, const std::string& expect) {
  GoldenStep step;
  step.of = class_of(letter);
  std::istringstream in(expect);
  std::string replica, reason;
  in >> replica >> reason;
  step.replica = "r" + replica;
  step.outcome = outcome_of(reason);
  for (std::string token; in >> token;) {  // 4:BP>M
    const auto colon = token.find(':');
    const auto arrow = token.find('>');
    const std::string to = token.substr(arrow + 1);
    step.changes.push_back({"r" + token.substr(0, colon), pool_of(token.substr(colon + 1, arrow - colon - 1)),
                            pool_of(to), borrowed_role(to) ? "borrow" : "return"});
  }
  return step;
}

GoldenStep parse_step(const std::string& event, const std::string& expect) {
  if (event.front() != '-') return parse_arrival(event, expect);
  GoldenStep step;
  step.close = true;
  step.of = class_of(event.substr(1, 1));
  step.replica = "r" + event.substr(3);
  return step;
}

std::vector<ClassParams> parse_classes(const YAML::Node& cfg) {
  const auto number = [&](const char* key, std::int64_t fallback) {
    return cfg ? cfg[key].as<long>(fallback) : fallback;
  };
  const auto ratio = [&](const char* key, const std::string& fallback) {
    return Ratio::parse(cfg ? cfg[key].as<std::string>(fallback) : fallback).value();
  };
  return {{"premium", number("thetaP", 10), ratio("alphaP", "0.60"), 0, number("KP", 2)},
          {"freemium", number("thetaF", 10), ratio("alphaF", "0.80"), number("kappaF", 1), number("KF", 2)}};
}

}  // namespace

PoolConfig GoldenCase::config() const {
  PoolConfig config;
  config.classes = classes;
  for (std::size_t i = 0; i < state.size(); ++i)
    config.replicas.push_back({"r" + std::to_string(i), std::nullopt});
  return config;
}

std::vector<GoldenCase> golden_cases() {
  const char* root = std::getenv("SLUICE_SOURCE_DIR");
  if (root == nullptr) throw std::runtime_error("SLUICE_SOURCE_DIR is not set; run the test through ctest");
  std::vector<GoldenCase> cases;
  for (const YAML::Node& node : YAML::LoadFile(std::string(root) + "/tests/golden/plb.yaml")["plb_cases"]) {
    GoldenCase& c = cases.emplace_back();
    c.id = node["id"].as<std::string>();
    c.classes = parse_classes(node["cfg"]);
    if (node["tau"]) c.watermarks = node["tau"].as<std::vector<std::int64_t>>();
    c.state = parse_state(node["state"].as<std::string>());
    if (node["arrive"])
      c.steps.push_back(parse_arrival(node["arrive"].as<std::string>(), node["expect"].as<std::string>()));
    for (const YAML::Node& step : node["steps"])
      c.steps.push_back(parse_step(step[0].as<std::string>(), step[1].as<std::string>()));
    if (node["final"]) c.final = parse_state(node["final"].as<std::string>());
  }
  return cases;
}

}  // namespace sluice::policy
