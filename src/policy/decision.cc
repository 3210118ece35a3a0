#include "sluice/policy/decision.h"

namespace sluice::policy {

std::string_view outcome_name(Outcome outcome) noexcept {
  switch (outcome) {
    case Outcome::Own:
      return "own";
    case Outcome::BorrowedMixed:
      return "borrowed_mixed";
    case Outcome::BorrowedLower:
      return "borrowed_lower";
    case Outcome::BorrowedHigher:
      return "borrowed_higher";
    case Outcome::Fallback:
      return "fallback";
    case Outcome::FallbackAny:
      return "fallback_any";
    case Outcome::Refused:
      return "refused";
  }
  return "unknown";
}

std::string_view outcome_reason(Outcome outcome) noexcept {
  switch (outcome) {
    case Outcome::Own:
      return "the least loaded of its own pool, or the baseline's choice";
    case Outcome::BorrowedMixed:
      return "its pool had no headroom, so a Mixed replica was borrowed";
    case Outcome::BorrowedLower:
      return "its pool had no headroom, so a less loaded replica of a lower class was borrowed";
    case Outcome::BorrowedHigher:
      return "its pool had no headroom, so a replica of a higher class, free of higher sessions, was "
             "borrowed";
    case Outcome::Fallback:
      return "its pool had no headroom and nothing could be borrowed: the least loaded of its pool";
    case Outcome::FallbackAny:
      return "its pool had no replica to offer and nothing could be borrowed: the least loaded of all";
    case Outcome::Refused:
      return "no replica is live with a slot, or the session has already failed on each that is";
  }
  return "unknown";
}

std::string_view change_kind_name(ChangeKind kind) noexcept {
  return kind == ChangeKind::Return ? "return" : "borrow";
}

}  // namespace sluice::policy
