#include "config/print.h"

#include "config/fields.h"

namespace sluice::config {
namespace {

constexpr std::string_view kRedacted = "***";

std::string shown_value(const Field<Options>& field, const Options& options) {
  const std::string text = field.print(options);
  return field.secrecy == Secrecy::Secret && text != "\"\"" ? std::string(kRedacted) : text;
}

template <class R>
void append_list(std::string& out, std::string_view key, const std::vector<R>& records) {
  out += std::string(key) + ":";
  if (records.empty()) out += " []";
  out += "\n";
  for (const R& record : records)
    out += "  - " + print_record(record) + "\n";
}

}  // namespace

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
  std::string_view group;
  for (const Field<Options>& field : fields_of<Options>()) {
    if (field.group != group) out += (out.empty() ? "# " : "\n# ") + std::string(group = field.group) + "\n";
    out += std::string(field.key) + ": " + shown_value(field, config.options) + "\n";
  }
  out += "\n";
  if (config.primary) out += "primary: " + print_record(*config.primary) + "\n";
  append_list(out, "replicas", config.replicas);
  append_list(out, "databases", config.databases);
  append_list(out, "classes", config.classes);
  append_list(out, "rules", config.rules);
  append_list(out, "hosts", config.hosts);
  append_list(out, "hba", config.hba);
  out += "# listeners (from listen_addr, listen_port and listeners)\n";
  for (const Listener& listener : config.listeners)
    out += "#   - " + print_record(listener) + "\n";
  out += "# users in auth_file: " + std::to_string(config.users.size()) + "\n";
  return out;
}

std::string check_report(const LoadOutcome& outcome, const std::string& path) {
  std::string out;
  std::size_t errors = 0;
  for (const Problem& problem : outcome.problems) {
    out += to_string(problem) + "\n";
    errors += problem.severity == Severity::Error ? 1 : 0;
  }
  const std::size_t warnings = outcome.problems.size() - errors;
  const auto counted = [](std::size_t count, const std::string& what) {
    return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
  };
  out += path + ": " + counted(errors, "error") + ", " + counted(warnings, "warning") + "\n";
  if (outcome.config) out += "\n" + effective_values(*outcome.config);
  return out;
}

}  // namespace sluice::config
