#pragma once

#include <string>
#include <system_error>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/assert.h"
#include "base/result.h"

namespace sluice::pgclient {

enum class PgErrc {
  ConnectFailed = 1,  // no TCP connection, no TLS
  LoginFailed,        // the server answered the start-up with an ErrorResponse
  QueryFailed,        // ... the query
  ConnectionLost,     // closed or broken in between
  ResultTooLarge,     // more than Limits allow
  UnexpectedResult,   // not the shape that the query should have
  PoolBusy,           // no connection became free in time
};
std::error_code make_error_code(PgErrc e) noexcept;

}  // namespace sluice::pgclient

template <>
struct std::is_error_code_enum<sluice::pgclient::PgErrc> : std::true_type {};

namespace sluice::pgclient {

// Why a control query failed, for log and console. The message is one line, bounded, and says nothing secret:
// libpq's or the server's primary message.
struct PgError {
  Error error;           // PgErrc, BaseErrc::Timeout, BaseErrc::Cancelled or of the name lookup
  std::string sqlstate;  // five characters where the server gave one
  std::string message;
};

// Of the server's side, where another try may do; the message is the code's where there is none.
PgError failure(std::error_code code, std::string message = {}, std::string sqlstate = {});

// A T or a PgError, with the member names of Result.
template <class T>
class [[nodiscard]] PgResult {
 public:
  PgResult(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  PgResult(PgError error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool has_value() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }
  T& value() & { return SLUICE_ASSERT(has_value()), *std::get_if<0>(&state_); }
  const T& value() const& { return SLUICE_ASSERT(has_value()), *std::get_if<0>(&state_); }
  T&& value() && { return SLUICE_ASSERT(has_value()), std::move(*std::get_if<0>(&state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  const PgError& error() const { return SLUICE_ASSERT(!has_value()), *std::get_if<1>(&state_); }

 private:
  std::variant<T, PgError> state_;
};

}  // namespace sluice::pgclient
