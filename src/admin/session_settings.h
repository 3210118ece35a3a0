#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "admin/statement.h"

namespace sluice::admin {

// The value of a PostgreSQL setting as far as the console has one; any case.
std::optional<std::string> setting_value(std::string_view name, const SessionFacts& facts);

// Whether SET of this name is what drivers and tools send on their own, so that no word need be lost about
// it.
bool is_driver_setting(std::string_view name);

}  // namespace sluice::admin
