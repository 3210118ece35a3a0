#pragma once

namespace sluice {

// Prints the failed condition with its place on stderr and aborts. Source lines only: never any data.
[[noreturn]] void assertion_failed(const char* condition, const char* file, int line) noexcept;

}  // namespace sluice

// For our own faults alone, also in release builds: no byte from outside may reach one.
#define SLUICE_ASSERT(condition) \
  (static_cast<bool>(condition) ? void() : ::sluice::assertion_failed(#condition, __FILE__, __LINE__))
