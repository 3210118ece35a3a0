#pragma once

// The templates of stream.h, which includes this file.

#include <tuple>
#include <type_traits>

#include "net/stream.h"

namespace sluice::net::detail {

// A handler with its arguments, to be posted.
template <class Handler, class... Args>
struct Completion {
  Handler handler;
  std::tuple<Args...> args;

  void operator()() { std::apply(std::move(handler), std::move(args)); }
};

template <class Handler, class... Args>
Completion<std::decay_t<Handler>, std::decay_t<Args>...> completion(Handler&& handler, Args&&... args) {
  return {std::forward<Handler>(handler), {std::forward<Args>(args)...}};
}

inline std::error_code as_error(const IoOutcome& outcome) noexcept {
  return outcome.status == IoStatus::Eof ? make_error_code(asio::error::eof) : outcome.error;
}

// One read over TLS: woken by the socket, it tries, and waits again until a whole record has come.
template <class Handler>
struct TlsReadOp {
  Stream* stream;
  std::span<std::byte> into;
  std::uint32_t cancellations;
  Handler handler;

  void operator()(std::error_code ec) {
    // After an error the stream may be gone: only a success may look at it.
    if (!ec && cancellations != stream->cancellations_) ec = asio::error::operation_aborted;
    if (ec) return std::move(handler)(ec, std::size_t{0});
    const IoOutcome outcome = stream->try_read(into);
    if (outcome.status == IoStatus::WouldBlock) return stream->wait_for(outcome.want, std::move(*this));
    std::move(handler)(as_error(outcome), outcome.bytes);
  }
};

}  // namespace sluice::net::detail

// The operations wear their handler's allocator, executor and cancellation slot.
template <template <class, class> class Associator, class Handler, class... Args, class Default>
struct asio::associator<Associator, sluice::net::detail::Completion<Handler, Args...>, Default>
    : Associator<Handler, Default> {
  static typename Associator<Handler, Default>::type get(
      const sluice::net::detail::Completion<Handler, Args...>& op,
      const Default& fallback = Default()) noexcept {
    return Associator<Handler, Default>::get(op.handler, fallback);
  }
};

template <template <class, class> class Associator, class Handler, class Default>
struct asio::associator<Associator, sluice::net::detail::TlsReadOp<Handler>, Default>
    : Associator<Handler, Default> {
  static typename Associator<Handler, Default>::type get(const sluice::net::detail::TlsReadOp<Handler>& op,
                                                         const Default& fallback = Default()) noexcept {
    return Associator<Handler, Default>::get(op.handler, fallback);
  }
};

namespace sluice::net {

template <class Handler>
void Stream::start_tls_read(std::span<std::byte> into, Handler handler) {
  if (socket_.is_open() && tls_->answers_without_socket()) {
    const IoOutcome outcome = try_read(into);
    if (outcome.status != IoStatus::WouldBlock) {
      asio::post(socket_.get_executor(),
                 detail::completion(std::move(handler), detail::as_error(outcome), outcome.bytes));
      return;
    }
  }
  wait_for(read_want_, detail::TlsReadOp<Handler>{this, into, cancellations_, std::move(handler)});
}

template <class Token>
auto Stream::async_read_some(std::span<std::byte> into, Token&& token) {
  return asio::async_initiate<Token, void(std::error_code, std::size_t)>(
      [this](auto&& handler, std::span<std::byte> room) {
        using Handler = std::decay_t<decltype(handler)>;
        if (tls_ == nullptr) {
          socket_.async_read_some(asio::buffer(room.data(), room.size()),
                                  std::forward<decltype(handler)>(handler));
        } else {
          start_tls_read<Handler>(room, std::forward<decltype(handler)>(handler));
        }
      },
      token, into);
}

template <class Token>
auto Stream::async_wait_readable(Token&& token) {
  return asio::async_initiate<Token, void(std::error_code)>(
      [this](auto&& handler) {
        if (tls_ != nullptr && socket_.is_open() && tls_->answers_without_socket()) {
          asio::post(socket_.get_executor(),
                     detail::completion(std::forward<decltype(handler)>(handler), std::error_code()));
        } else {
          wait_for(read_want_, std::forward<decltype(handler)>(handler));
        }
      },
      token);
}

template <class Token>
auto Stream::async_wait_writable(Token&& token) {
  return asio::async_initiate<Token, void(std::error_code)>(
      [this](auto&& handler) { wait_for(write_want_, std::forward<decltype(handler)>(handler)); }, token);
}

}  // namespace sluice::net
