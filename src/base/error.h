#pragma once

#include <system_error>
#include <type_traits>

#include "base/result.h"

namespace sluice {

// Failures that belong to no module in particular.
enum class BaseErrc { Timeout = 1, Closed, LimitReached, Cancelled, NotFound };

std::error_code make_error_code(BaseErrc e) noexcept;

}  // namespace sluice

template <>
struct std::is_error_code_enum<sluice::BaseErrc> : std::true_type {};
