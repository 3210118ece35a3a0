#include "config/set_option.h"

#include <algorithm>

#include "base/nearest.h"
#include "config/checks.h"
#include "config/complete.h"
#include "config/read_record.h"
#include "config/reporter.h"

namespace sluice::config {
namespace {

using Refusal = SetOutcome::Refusal;

SetOutcome refused(Refusal why, std::string message, std::string hint = {}) {
  SetOutcome outcome;
  outcome.refusal = why;
  outcome.message = std::move(message);
  outcome.hint = std::move(hint);
  return outcome;
}

// Options from which files with secrets are read.
bool names_secrets(std::string_view key) {
  return key.ends_with("_file") || key == "auth_user";
}

Problems check(const Config& config) {
  Problems problems;
  Reporter reporter(config.path, problems);
  check_all(config, reporter);
  return problems;
}

// Wherever in a file it was found.
bool same_matter(const Problem& a, const Problem& b) {
  return a.severity == b.severity && a.key == b.key && a.message == b.message;
}
bool is_among(const Problems& problems, const Problem& wanted) {
  return std::any_of(problems.begin(), problems.end(),
                     [&](const Problem& each) { return same_matter(each, wanted); });
}

// What is to be said of `changed`: the warnings so far without those that the change has settled, and those
// that it has brought. `known` and `now` are what check() found before and finds after it.
void renew_warnings(Config& changed, std::string_view key, const Problems& known, const Problems& now,
                    const Problems& brought) {
  std::erase_if(changed.warnings, [&](const Problem& warning) {
    const bool of_a_file = names_secrets(key) && names_secrets(warning.key);  // these were read anew
    return (of_a_file || is_among(known, warning)) && !is_among(now, warning) && !is_among(brought, warning);
  });
  for (const Problem& problem : brought)
    if (!is_among(changed.warnings, problem)) changed.warnings.push_back(problem);
}

}  // namespace

SetOutcome with_option(const Config& config, std::string_view key, std::string_view value) {
  const Field<Options>* const field = find_field<Options>(key);
  if (field == nullptr) {
    const std::string_view near = nearest(key, keys_of<Options>()).value_or("");
    return refused(Refusal::UnknownKey, "there is no option \"" + std::string(key) + "\"",
                   near.empty() ? "SHOW CONFIG lists them." : "Did you mean " + std::string(near) + "?");
  }
  if (field->apply == Apply::Restart)
    return refused(Refusal::NeedsRestart, std::string(key) + " cannot be changed while the router runs",
                   "Change it in the configuration file and restart the router.");

  const auto changed = std::make_shared<Config>(config);
  Node node;
  node.kind = Node::Kind::Scalar;
  node.scalar = value;
  if (value.empty() || value == "default") {
    const Options defaults;
    node.scalar = field->console(defaults);
  }
  if (const std::string wrong = field->read(changed->options, node, field->limits); !wrong.empty())
    return refused(Refusal::BadValue, std::string(key) + " " + wrong);

  Problems problems;
  Reporter reporter(config.path, problems);
  complete_options(config, *changed);
  if (names_secrets(key)) {
    changed->users.clear();
    changed->passwords = {};
    read_secret_files(*changed, reporter);
  }
  const Problems known = check(config), now = check(*changed);
  for (const Problem& problem : now)
    if (!is_among(known, problem)) problems.push_back(problem);
  const auto error = std::find_if(problems.begin(), problems.end(),
                                  [](const Problem& p) { return p.severity == Severity::Error; });
  if (error != problems.end())
    return refused(Refusal::BadValue, (error->key.empty() ? "" : error->key + " ") + error->message,
                   error->hint);
  SetOutcome outcome;
  renew_warnings(*changed, key, known, now, problems);
  outcome.config = changed;
  outcome.warnings = std::move(problems);
  return outcome;
}

}  // namespace sluice::config
