#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/startup_packet.h"

namespace sluice::protocol {

// The words of a startup packet's `options`, split as PostgreSQL splits them: white space separates, a
// backslash makes the next character part of the word (a trailing backslash vanishes). O(length).
std::vector<std::string> split_options(std::string_view options);

// A setting made by `-c name=value` or `--name=value` (also `-cname=value`). As in PostgreSQL a '-' in the
// name means '_'.
struct OptionSetting {
  std::string name;
  std::optional<std::string> value;  // nullopt: no '=' (PostgreSQL refuses that with 42601)
};
std::vector<OptionSetting> option_settings(std::string_view options);

// What a client asks of Sluice itself, in `options` or as a startup parameter of its own. The last one
// counts, and parameters count after `options`, the order in which PostgreSQL applies them. Names compare
// without case.
struct SluiceOptions {
  std::optional<std::string> priority;  // sluice.priority
  std::optional<std::string> host;      // sluice.host
  std::optional<std::string> target;    // sluice.target
  std::optional<std::string> size;      // sluice.size
  std::vector<std::string> unknown;     // any other sluice.*: names, in order; taken out like the rest
};

// Takes every sluice.* setting out of `startup.options` and `startup.parameters`, and returns them.
// What stays in `options` is byte-identical, the space around a removed word apart: it goes with the word.
SluiceOptions take_sluice_options(StartupMessage& startup);

}  // namespace sluice::protocol
