#pragma once

#include <optional>
#include <system_error>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/assert.h"

namespace sluice {

// Who caused a failure: decides who is told and what is counted.
enum class Side { Client, Server, Internal };

// Whether trying the same again, elsewhere or later, can help.
enum class Retry { No, Yes };

struct Error {
  std::error_code code;
  Side side = Side::Internal;
  Retry retry = Retry::No;

  Error(std::error_code c, Side s = Side::Internal, Retry r = Retry::No) : code(c), side(s), retry(r) {}
  // Any enum registered with std::is_error_code_enum converts by itself.
  template <class E, std::enable_if_t<std::is_error_code_enum_v<E>, int> = 0>
  Error(E e, Side s = Side::Internal, Retry r = Retry::No) : code(e), side(s), retry(r) {}

  friend bool operator==(const Error&, const Error&) = default;
};

// A T or an Error, with the member names of std::expected.
// Reading value() of an error, or error() of a value, is our own fault and ends the program.
template <class T>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, error) {}
  template <class E, std::enable_if_t<std::is_error_code_enum_v<E>, int> = 0>
  Result(E e) : state_(std::in_place_index<1>, Error(e)) {}

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

  const Error& error() const { return SLUICE_ASSERT(!has_value()), *std::get_if<1>(&state_); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(error) {}
  template <class E, std::enable_if_t<std::is_error_code_enum_v<E>, int> = 0>
  Result(E e) : error_(Error(e)) {}

  bool has_value() const noexcept { return !error_; }
  explicit operator bool() const noexcept { return has_value(); }
  const Error& error() const { return SLUICE_ASSERT(error_.has_value()), *error_; }

 private:
  std::optional<Error> error_;
};

}  // namespace sluice
