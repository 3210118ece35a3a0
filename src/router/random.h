#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace sluice::router {

// Unpredictable bytes, for keys and nonces. Ends the program if the system has none to give.
void random_bytes(std::span<std::byte> out);
std::uint32_t random_u32();

}  // namespace sluice::router
