#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "router/admission.h"

namespace sluice::router::test {

// Keeps what it is given.
class HeldWaiter final : public Waiter {
 public:
  void granted(Granted slot) noexcept override { slots.push_back(std::move(slot)); }

  std::vector<Granted> slots;
};

// The slot that is there at once; nullopt when no replica is live beside `failed`. Nobody waits.
inline std::optional<Granted> granted_at_once(Admission& admission, const SessionTag& tag,
                                              policy::ReplicaSet failed = {}) {
  HeldWaiter waiter;
  Admission::Answer answer = admission.ask(tag, waiter, failed);
  if (const auto* rejected = std::get_if<Admission::Rejected>(&answer)) {
    EXPECT_EQ(rejected->limit, "");
    return std::nullopt;
  }
  if (auto* granted = std::get_if<Granted>(&answer)) return std::move(*granted);
  ADD_FAILURE() << "has to wait";
  admission.withdraw(waiter);
  return std::nullopt;
}

}  // namespace sluice::router::test
