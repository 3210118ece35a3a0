#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/bytes.h"

namespace sluice::protocol {

// What the tracker tells about an ErrorResponse: enough to count it, nothing of its text.
struct ErrorClass {
  std::array<char, 5> sqlstate{'X', 'X', '0', '0', '0'};
  bool fatal = false;  // FATAL or PANIC: the server ends the session
};

// Picks severity and SQLSTATE out of an ErrorResponse body that arrives in pieces, without keeping it.
// Errors: none; what is missing or cut short stays at ErrorClass's defaults.
class ErrorScanner {
 public:
  void feed(ByteView piece) noexcept;
  // The class of the body fed since the last call; starts anew.
  ErrorClass finish() noexcept;

 private:
  enum class Place : std::uint8_t { FieldCode, Value, End };
  static constexpr std::size_t kKeptBytes =
      6;  // "FATAL", "PANIC" and an SQLSTATE have five; one more to tell longer ones

  void end_value() noexcept;

  Place place_ = Place::FieldCode;
  char field_ = 0;
  bool unlocalized_seen_ = false;  // field V, which outranks S
  std::uint8_t kept_count_ = 0;
  std::array<char, kKeptBytes> kept_{};
  ErrorClass error_;
};

}  // namespace sluice::protocol
