#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include <asio/awaitable.hpp>
#include <asio/co_spawn.hpp>
#include <asio/experimental/as_tuple.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>

namespace sluice::calibrate {

// A server on loopback that answers each request, whatever it is, with the next of its answers: one
// connection after the other. "" closes the connection without a word; an answer that ends with kClose closes
// it afterwards; kSilence never answers.
inline const std::string kClose = "<close>", kSilence = "<silence>";

class ScriptedServer {
 public:
  ScriptedServer(asio::io_context& context, std::vector<std::string> answers)
      : state_(std::make_shared<State>(context, std::move(answers))) {
    asio::co_spawn(context, serve(state_), [](std::exception_ptr) {});
  }
  ~ScriptedServer() {
    std::error_code ignored;
    state_->acceptor.close(ignored);
    state_->held.close(ignored);
  }
  std::uint16_t port() const { return state_->acceptor.local_endpoint().port(); }
  int connections() const { return state_->connections; }
  const std::string& last_request() const { return state_->last_request; }

 private:
  struct State {
    State(asio::io_context& context, std::vector<std::string> all)
        : acceptor(context, {asio::ip::address_v4::loopback(), 0}), held(context), answers(std::move(all)) {}
    asio::ip::tcp::acceptor acceptor;
    asio::ip::tcp::socket held;
    std::vector<std::string> answers;
    std::size_t next = 0;
    int connections = 0;
    std::string last_request;
  };

  // Until the connection is to be closed.
  static asio::awaitable<void> answer(std::shared_ptr<State> state) {
    const auto token = asio::experimental::as_tuple(asio::use_awaitable);
    std::array<char, 4096> piece{};
    while (state->next < state->answers.size()) {
      const auto [failed, count] = co_await state->held.async_read_some(asio::buffer(piece), token);
      if (failed) co_return;
      state->last_request.assign(piece.data(), count);
      std::string text = state->answers[state->next++];
      if (text == kSilence) continue;
      const bool close = text.empty() || text.ends_with(kClose);
      if (text.ends_with(kClose)) text.resize(text.size() - kClose.size());
      co_await asio::async_write(state->held, asio::buffer(text), token);
      if (close) co_return;
    }
    co_await state->held.async_read_some(asio::buffer(piece), token);
  }

  static asio::awaitable<void> serve(std::shared_ptr<State> state) {
    const auto token = asio::experimental::as_tuple(asio::use_awaitable);
    for (;;) {
      const auto [failed] = co_await state->acceptor.async_accept(state->held, token);
      if (failed) co_return;
      ++state->connections;
      co_await answer(state);
      std::error_code ignored;
      state->held.close(ignored);
    }
  }

  std::shared_ptr<State> state_;
};

}  // namespace sluice::calibrate
