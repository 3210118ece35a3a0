#include "cli/load_config.h"

#include <iostream>

namespace sluice::cli {

std::shared_ptr<const config::Config> load_config(const std::string& path) {
  const config::LoadOutcome outcome = config::load(path);
  for (const config::Problem& problem : outcome.problems)
    std::cerr << config::to_string(problem) << "\n";
  return outcome.config;
}

}  // namespace sluice::cli
