#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "config/config.h"

namespace sluice::config {

// The configuration with one option changed, for the console's SET: judged by all the checks of load(), and
// with what follows from the option drawn again (names of classes, the hba rule of auth_type, files that it
// names). `value` is what would stand in the file; empty and `default` are the default.
struct SetOutcome {
  enum class Refusal { None, UnknownKey, NeedsRestart, BadValue };
  std::shared_ptr<const Config> config;  // null where refused
  Refusal refusal = Refusal::None;
  std::string message, hint;  // of the refusal
  Problems warnings;          // that the change has brought; with it in force
};
SetOutcome with_option(const Config& config, std::string_view key, std::string_view value);

}  // namespace sluice::config
