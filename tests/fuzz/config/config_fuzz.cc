// A configuration file and a userlist from anybody: no crash, bounded work, and what passes every check must
// print as a configuration that is the same again.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/assert.h"
#include "config/checks.h"
#include "config/complete.h"
#include "config/diff.h"
#include "config/match.h"
#include "config/print.h"
#include "config/read_tree.h"
#include "config/userlist.h"
#include "config/yaml_tree.h"

namespace sluice::config {
namespace {

// Like load_text, but opens no file: the input would choose which.
LoadOutcome load_without_files(std::string_view yaml) {
  LoadOutcome outcome;
  const auto config = std::make_shared<Config>();
  config->path = "/fuzz/sluice.yaml";
  Reporter reporter(config->path, outcome.problems);
  if (const std::optional<Node> root = parse_yaml(yaml, config->path, outcome.problems)) {
    read_tree(*root, *config, reporter);
    complete(*config, reporter);
    check_pools(*config, reporter);
    check_authentication(*config, reporter);
    check_tls(*config, reporter);
    check_limits(*config, reporter);
    if (!has_errors(outcome.problems)) outcome.config = config;
  }
  for (const Problem& problem : outcome.problems)
    SLUICE_ASSERT(!to_string(problem).empty());
  return outcome;
}

void use(const Config& config) {
  SLUICE_ASSERT(!policy::problem_of(pool_config(config)));
  ClientFacts facts;
  facts.user = facts.database = facts.application_name = "app";
  facts.address = *parse_address("10.0.0.1");
  SLUICE_ASSERT(find_class(config, facts) < config.classes.size());
  (void)find_hba_rule(config, facts);
  (void)find_host(config, facts, "a");
  (void)find_database(config, "app");
  (void)show_config(config);
  const LoadOutcome again = load_without_files(effective_values(config));
  SLUICE_ASSERT(again.config != nullptr);
}

}  // namespace
}  // namespace sluice::config

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sluice::config;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const LoadOutcome outcome = load_without_files(text);
  if (outcome.config) use(*outcome.config);
  Problems problems;
  (void)parse_userlist(text, "userlist", problems);
  return 0;
}
