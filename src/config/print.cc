#include "config/print.h"

#include "config/fields.h"
#include "config/print_sections.h"

namespace sluice::config {

std::vector<ShownOption> show_config(const Config& config) {
  static const Options defaults{};
  std::vector<ShownOption> rows;
  for (const Field<Options>& field : fields_of<Options>()) {
    std::string value = field.console(config.options);
    if (field.secrecy == Secrecy::Secret && !value.empty()) value = kRedacted;
    rows.push_back(
        {std::string(field.key), std::move(value), field.console(defaults), field.apply == Apply::OnReload});
  }
  return rows;
}

std::string effective_values(const Config& config) {
  std::string out;
  append_effective_options(out, config.options);
  out += "\n";
  if (config.primary) out += "primary: " + print_record(*config.primary) + "\n";
  if (!config.primary_candidates.empty()) append_list(out, "primary", config.primary_candidates);
  append_list(out, "replicas", config.replicas);
  append_list(out, "databases", config.databases);
  append_list(out, "users", config.user_settings);
  append_list(out, "classes", config.classes);
  append_list(out, "rules", config.rules);
  append_list(out, "budgets", config.budgets);
  append_list(out, "hosts", config.hosts);
  append_list(out, "hba", config.hba);
  out += "# listeners (from listen_addr, listen_port and listeners)\n";
  for (const Listener& listener : config.listeners)
    out += "#   - " + print_record(listener) + "\n";
  out += "# users in auth_file: " + std::to_string(config.users.size()) + "\n";
  return out;
}

std::string check_report(const LoadOutcome& outcome, const std::string& path) {
  std::string out = problem_report(outcome.problems, path);
  if (outcome.config) out += "\n" + effective_values(*outcome.config);
  return out;
}

}  // namespace sluice::config
