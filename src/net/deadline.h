#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include <asio/any_io_executor.hpp>

namespace sluice::net {

// Calls `on_expiry` once, on the executor's thread, unless it is destroyed or reset first. RAII: afterwards
// nothing is called any more, even when the timer had already fired and waited its turn. The usual callback
// is stream.cancel() or stream.close(); cancel() reaches only what is pending, so look at expired() between
// operations.
class Deadline {
 public:
  Deadline(asio::any_io_executor executor, std::chrono::steady_clock::duration duration,
           std::function<void()> on_expiry);
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;
  ~Deadline();

  bool expired() const noexcept;
  std::chrono::steady_clock::duration remaining() const;  // 0 once expired
  // Counts anew from now; also after an expiry.
  void reset(std::chrono::steady_clock::duration duration);

 private:
  struct State;
  static void arm(const std::shared_ptr<State>& state, std::chrono::steady_clock::duration duration);
  std::shared_ptr<State> state_;
};

}  // namespace sluice::net
