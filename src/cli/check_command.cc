#include <iostream>
#include <memory>
#include <string>
#include <utility>

#include "calibration/calibration_file.h"
#include "cli/commands.h"
#include "config/placer_config.h"
#include "config/print.h"

namespace sluice::cli {
namespace {

// What the daemon would say of it when it looks; it serves without, so these are warnings.
void check_calibration(const std::string& file, config::Problems& problems) {
  if (file.empty()) return;
  config::Problems found;
  (void)calibration::load(file, found);
  for (config::Problem& problem : found) {
    problem.severity = config::Severity::Warning;
    problems.push_back(std::move(problem));
  }
}

int check(const std::string& path) {
  if (config::is_placer_file(path)) {
    config::PlacerLoadOutcome placer = config::load_placer(path);
    if (placer.config) check_calibration(placer.config->options.calibration_file, placer.problems);
    std::cout << config::check_report(placer, path) << std::flush;
    return placer.config != nullptr && std::cout ? kSuccess : kFailure;
  }
  config::LoadOutcome outcome = config::load(path);
  if (outcome.config) check_calibration(outcome.config->options.calibration_file, outcome.problems);
  std::cout << config::check_report(outcome, path) << std::flush;
  return outcome.config != nullptr && std::cout ? kSuccess : kFailure;
}

enum class What { Check, Sample, Reference, PlacerSample, PlacerReference };

std::string document(What what) {
  switch (what) {
    case What::Check:
      break;
    case What::Sample:
      return config::sample_file();
    case What::Reference:
      return config::reference_page();
    case What::PlacerSample:
      return config::placer_sample_file();
    case What::PlacerReference:
      return config::placer_reference_page();
  }
  return "";
}

int print(What what) {
  std::cout << document(what) << std::flush;
  return std::cout ? kSuccess : kFailure;
}

}  // namespace

void add_check(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("check", "Validate a configuration file and print the effective values");
  command->footer(
      "The file is the router's, or the placer's if it has the key compute_hosts.\n"
      "Every problem is a line FILE:LINE:COLUMN: SEVERITY: KEY: message. Exit code 1 if any of them is an "
      "error;\n"
      "warnings alone give 0.");
  const auto path = std::make_shared<std::string>("sluice.yaml");
  const auto what = std::make_shared<What>(What::Check);
  CLI::Option* const file =
      command->add_option("-c,--config,file", *path, "Configuration file")->type_name("FILE");
  const auto printing = [&](const char* flag, What which, const char* help) {
    command->add_flag_callback(
        flag, [what, which] { *what = which; }, help);
  };
  printing("--print-sample", What::Sample, "Print an annotated configuration file of the router instead");
  printing("--print-reference", What::Reference, "Print the reference page of the router instead");
  printing("--print-placer-sample", What::PlacerSample, "... the placer's configuration file");
  printing("--print-placer-reference", What::PlacerReference, "... the placer's reference page");
  command->callback([&action, path, what, file] {
    if (*what == What::Check && file->count() == 0) throw CLI::RequiredError("--config");
    action = [path, what] { return *what == What::Check ? check(*path) : print(*what); };
  });
}

}  // namespace sluice::cli
