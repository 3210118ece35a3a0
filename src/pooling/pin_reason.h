#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace sluice::pooling {

// State of a client on its server that cannot follow it to another one. A session with any of it stays on its
// server until it ends, or until the client's own DISCARD ALL (which ends all of them but Load).
enum class PinReason : std::uint8_t {
  TemporaryTable,  // CREATE TEMP ..., SELECT INTO TEMP, an object in pg_temp, pg_temp in the search_path
  AdvisoryLock,    // pg_advisory_lock() and its kind, not the ..._xact_ ones
  HoldCursor,      // DECLARE ... WITH HOLD
  SqlPrepare,      // SQL's PREPARE, whose statement has a name of the client's choosing
  Load,            // LOAD 'library'
  Set,             // SET or RESET of a setting that does not follow the client, or is not known
  Listen,  // LISTEN among other statements of one Query: the router's own listener cannot take it over
  LargeStatement,  // a named statement over TranslatorOptions::statement_bytes_max
  ManyStatements,  // more named statements than the router keeps for a client
  LargeQuery,      // a Query with several statements, or a DO block, too large to be read to its end
};
inline constexpr std::size_t kPinReasonCount = 10;

// As metrics and SHOW CLIENTS print it: temporary_table, advisory_lock, hold_cursor, prepare, load, set,
// listen, large_statement, many_statements, large_query.
std::string_view name(PinReason reason) noexcept;

// A set of reasons.
class PinReasons {
 public:
  bool empty() const noexcept { return bits_ == 0; }
  bool contains(PinReason reason) const noexcept { return (bits_ & bit(reason)) != 0; }
  void add(PinReason reason) noexcept { bits_ = static_cast<std::uint16_t>(bits_ | bit(reason)); }
  void add(PinReasons more) noexcept { bits_ = static_cast<std::uint16_t>(bits_ | more.bits_); }
  void remove(PinReason reason) noexcept { bits_ = static_cast<std::uint16_t>(bits_ & ~bit(reason)); }
  // The lowest enumerator; nothing when empty().
  std::optional<PinReason> first() const noexcept;

  friend bool operator==(PinReasons, PinReasons) = default;

 private:
  static std::uint16_t bit(PinReason reason) noexcept {
    return static_cast<std::uint16_t>(1u << static_cast<unsigned>(reason));
  }
  std::uint16_t bits_ = 0;
};

}  // namespace sluice::pooling
