#pragma once

namespace sluice::router {

inline constexpr const char* kVersion = SLUICE_VERSION;

}  // namespace sluice::router
