#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include "cli/commands.h"
#include "cli/load_config.h"
#include "decide/run.h"

namespace sluice::cli {
namespace {

int decide_on_standard_streams(const std::string& config_path) {
  std::optional<policy::PoolConfig> initial;
  if (!config_path.empty()) {
    const auto config = load_config(config_path);
    if (config == nullptr) return kFailure;
    initial = config::pool_config(*config);
  }
  std::ios::sync_with_stdio(false);
  switch (decide::run(std::cin, std::cout, std::cerr, initial)) {
    case decide::RunResult::Complete:
      return kSuccess;
    case decide::RunResult::BadLine:
      return kFailure;
    case decide::RunResult::OutputFailed:
      std::cerr << "sluice decide: standard output cannot be written" << std::endl;
      return kFailure;
  }
  return kFailure;
}

}  // namespace

void add_decide(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("decide", "Read events as JSON lines, print what the router would decide");
  command->footer(
      "Events, one JSON object per line on standard input:\n"
      "  {\"op\":\"config\",\"policy\":\"plb\",\"classes\":[{\"name\":\"premium\",\"saturation\":10,\n"
      "   \"return_ratio\":\"0.60\",\"floor\":0,\"target\":2},...],\"replicas\":[\"r0\",\"r1\",...]}\n"
      "   and where wanted \"weight\":2 in a class, "
      "\"order\":\"nearest\",\"nearest_slack\":2,\"rtt\":{\"HOST\":{\"r0\":0.25,...}}, "
      "milliseconds\n"
      "  "
      "{\"op\":\"set\",\"replica\":\"r1\",\"pool\":\"premium\",\"borrowed\":true,\"loads\":{\"premium\":3}}\n"
      "  {\"op\":\"open\",\"id\":\"s1\",\"class\":\"premium\"}\n"
      "  {\"op\":\"close\",\"id\":\"s1\"}   or   "
      "{\"op\":\"close\",\"class\":\"premium\",\"replica\":\"r2\"}\n"
      "  {\"op\":\"down\",\"replica\":\"r2\"}   likewise up, drain, undrain\n"
      "Each open is answered by a line; the state of all replicas follows at the end.");
  const auto path = std::make_shared<std::string>();
  command->add_option("-c,--config", *path, "Configuration file to take policy, classes and replicas from")
      ->type_name("FILE");
  command->callback([&action, path] { action = [path] { return decide_on_standard_streams(*path); }; });
}

}  // namespace sluice::cli
