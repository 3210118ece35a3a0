#pragma once

#include <cstdint>

#include "base/strong_id.h"

namespace sluice::router {

// A client session, unique in this process.
using SessionId = StrongId<struct SessionTag, std::uint64_t>;

// A PostgreSQL server: a replica has the number that the policy knows it by, the primary has kPrimary.
using ServerId = StrongId<struct ServerTag, std::uint32_t>;
inline constexpr ServerId kPrimary{0xFFFFFFFFu};

}  // namespace sluice::router
