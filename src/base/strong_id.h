#pragma once

#include <compare>
#include <cstddef>
#include <functional>

namespace sluice {

// An integer that cannot be mistaken for another: StrongId<struct ReplicaTag, std::uint32_t>.
template <class Tag, class Rep>
class StrongId {
 public:
  using rep_type = Rep;

  constexpr StrongId() = default;
  constexpr explicit StrongId(Rep value) : value_(value) {}
  constexpr Rep value() const noexcept { return value_; }
  friend constexpr auto operator<=>(StrongId, StrongId) = default;

 private:
  Rep value_{};
};

}  // namespace sluice

template <class Tag, class Rep>
struct std::hash<sluice::StrongId<Tag, Rep>> {
  std::size_t operator()(sluice::StrongId<Tag, Rep> id) const noexcept {
    return std::hash<Rep>{}(id.value());
  }
};
