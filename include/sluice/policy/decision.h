#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "sluice/policy/ids.h"

namespace sluice::policy {

// How a session came to its replica.
enum class Outcome {
  Own,             // a replica of its class's pool (baselines always answer this)
  BorrowedMixed,   // its pool was saturated; a Mixed replica was borrowed for the class
  BorrowedLower,   // ... a replica of a lower class
  BorrowedHigher,  // ... a replica of a higher class that hosts no session of a class above the borrower
  Fallback,        // nothing to borrow: the least loaded of its own pool, although saturated
  FallbackAny,     // its pool has no live replica and there was nothing to borrow: the least loaded of all
  Refused,         // no live replica, the session has already failed on each, or none has a slot
};
inline constexpr std::array kOutcomes = {
    Outcome::Own,      Outcome::BorrowedMixed, Outcome::BorrowedLower, Outcome::BorrowedHigher,
    Outcome::Fallback, Outcome::FallbackAny,   Outcome::Refused};

// "own", "borrowed_mixed", ... as in metrics' labels and in `sluice decide`.
std::string_view outcome_name(Outcome) noexcept;
// One sentence for people: "its pool was saturated, so a Mixed replica was borrowed".
std::string_view outcome_reason(Outcome) noexcept;

enum class ChangeKind { Return, Borrow };
std::string_view change_kind_name(ChangeKind) noexcept;  // "return", "borrow"

struct RoleChange {
  ReplicaId replica;
  PoolId from = PoolId::mixed();
  PoolId to = PoolId::mixed();
  ChangeKind kind = ChangeKind::Borrow;

  friend bool operator==(const RoleChange&, const RoleChange&) = default;
};

// What the policy saw in the session's own pool when it decided, after the returns and before any borrowing.
struct Evidence {
  std::uint32_t pool_size = 0;      // live replicas
  std::uint32_t with_headroom = 0;  // of these, candidates below saturation
};

struct Decision {
  ReplicaId replica;  // meaningless when refused
  Outcome outcome = Outcome::Refused;
  // The class the session is counted in: pass it to close(). The arrival's own, or the lowest configured
  // class where a reload has removed the arrival's between its classification and its admission.
  ClassId counted_in;
  Evidence evidence;
  // Refused, but only for want of a slot: nothing has changed, and it may be asked again when one is free.
  bool waits = false;
  // It was decided in pools to which replicas would have returned, had it come to something.
  bool undone = false;
  // The replica's interval of sizes decided, not its load.
  bool by_size = false;
  // Returns first, then the borrow, in the order made. Lives in the Assignment until its next call: copy it
  // under the same lock. Mostly empty.
  std::span<const RoleChange> changes;
};

// What a policy may know of a session before it is assigned.
struct Arrival {
  ClassId session_class;
  std::string_view host;       // compute host it comes from, "" if unknown
  std::optional<double> size;  // expected service demand, seconds
  // From the host to each replica and back, by ReplicaId, for ReplicaOrder::Nearest. May end early; 0 or less
  // is not known. Looked at during the call alone.
  std::span<const std::chrono::nanoseconds> round_trips = {};
};

}  // namespace sluice::policy
