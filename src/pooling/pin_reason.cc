#include "pooling/pin_reason.h"

namespace sluice::pooling {

std::string_view name(PinReason reason) noexcept {
  switch (reason) {
    case PinReason::TemporaryTable:
      return "temporary_table";
    case PinReason::AdvisoryLock:
      return "advisory_lock";
    case PinReason::HoldCursor:
      return "hold_cursor";
    case PinReason::SqlPrepare:
      return "prepare";
    case PinReason::Load:
      return "load";
    case PinReason::Set:
      return "set";
    case PinReason::Listen:
      return "listen";
    case PinReason::LargeStatement:
      return "large_statement";
    case PinReason::ManyStatements:
      return "many_statements";
    case PinReason::LargeQuery:
      return "large_query";
  }
  return "";
}

std::optional<PinReason> PinReasons::first() const noexcept {
  for (std::size_t i = 0; i < kPinReasonCount; ++i)
    if (contains(static_cast<PinReason>(i))) return static_cast<PinReason>(i);
  return std::nullopt;
}

}  // namespace sluice::pooling
