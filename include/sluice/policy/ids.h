#pragma once

#include <cstdint>

#include "base/strong_id.h"

namespace sluice::policy {

// Both are given out by name, in the order of the first configuration (so at first 0 is the first replica and
// the highest class), and stay with that name across reloads: a session may keep its ids for life.
using ReplicaId = StrongId<struct ReplicaTag, std::uint32_t>;
using ClassId = StrongId<struct ClassTag, std::uint32_t>;

// The pool a replica is in: that of one class, or Mixed.
class PoolId {
 public:
  static constexpr PoolId mixed() noexcept { return PoolId(); }
  constexpr PoolId(ClassId owner) noexcept : owner_(static_cast<std::int32_t>(owner.value())) {}

  constexpr bool is_mixed() const noexcept { return owner_ < 0; }
  // Only when not mixed.
  constexpr ClassId owner() const noexcept { return ClassId(static_cast<std::uint32_t>(owner_)); }

  friend constexpr bool operator==(PoolId, PoolId) = default;

 private:
  constexpr PoolId() noexcept = default;

  std::int32_t owner_ = -1;
};

}  // namespace sluice::policy
