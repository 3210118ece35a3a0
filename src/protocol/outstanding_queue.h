#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/assert.h"

namespace sluice::protocol {

// What a frontend message asks of the server, as far as its answer is concerned.
enum class Request : std::uint8_t {
  Extended,  // Parse, Bind, Describe, Execute, Close: one completion each, no ReadyForQuery
  Query,     // ends with ReadyForQuery
  Function,  // FunctionCall: FunctionCallResponse, then ReadyForQuery
  Sync,      // ReadyForQuery
  CopyEnd,   // CopyDone or CopyFail: ends a COPY, ignored by the server outside one
};

// The requests a server has not answered, oldest first, as runs of equal ones: a batch of any length between
// two Syncs is one run, so what is stored grows with the number of Syncs and not with the number of messages.
// Shape:  32 runs without allocation, doubled when a client pipelines more; given back when it falls empty.
//         The owner bounds it: it stops reading the client (SessionTracker::full()).
// Cost:   O(1) amortised. Used by one thread.
class OutstandingQueue {
 public:
  bool empty() const noexcept { return run_count_ == 0; }
  std::size_t run_count() const noexcept { return run_count_; }
  Request front() const noexcept { return at(0).request; }
  std::uint32_t front_count() const noexcept { return at(0).count; }

  void push(Request request) {
    if (run_count_ > 0) {
      Run& last = at(run_count_ - 1);
      if (last.request == request && last.count < kCountMax) {
        ++last.count;
        return;
      }
    }
    if (run_count_ == capacity_) grow();
    at(run_count_) = Run{request, 1};
    ++run_count_;
  }
  // Answers one request of the front run.
  void pop() noexcept {
    SLUICE_ASSERT(run_count_ > 0);
    if (--at(0).count == 0) pop_run();
  }
  void pop_run() noexcept {
    SLUICE_ASSERT(run_count_ > 0);
    first_ = (first_ + 1) & (capacity_ - 1);
    if (--run_count_ == 0) release();
  }

  struct Run {
    Request request;
    std::uint32_t count;
  };
  // Index 0 is the oldest; index < run_count().
  const Run& run(std::size_t index) const noexcept { return at(index); }
  // Takes `count` runs out behind the oldest one.
  void erase_behind_front(std::size_t count) noexcept {
    SLUICE_ASSERT(count < run_count_);
    if (count == 0) return;
    at(count) = at(0);
    first_ = (first_ + count) & (capacity_ - 1);
    run_count_ -= count;
  }
  // One less in the run at `index` > 0, which holds at least two.
  void shorten(std::size_t index) noexcept { --at(index).count; }

  bool check_invariant() const noexcept {
    if (run_count_ > capacity_ || first_ >= capacity_) return false;
    for (std::size_t i = 0; i < run_count_; ++i)
      if (at(i).count == 0) return false;
    return true;
  }

 private:
  static constexpr std::size_t kInlineRuns = 32;  // a power of two, as every capacity
  static constexpr std::uint32_t kCountMax = 0xFFFFFFFF;

  Run* runs() noexcept { return heap_ ? heap_.get() : inline_.data(); }
  const Run* runs() const noexcept { return heap_ ? heap_.get() : inline_.data(); }
  Run& at(std::size_t index) noexcept { return runs()[(first_ + index) & (capacity_ - 1)]; }
  const Run& at(std::size_t index) const noexcept { return runs()[(first_ + index) & (capacity_ - 1)]; }
  void grow();
  void release() noexcept {
    first_ = 0;
    if (heap_) [[unlikely]] {
      heap_.reset();
      capacity_ = kInlineRuns;
    }
  }

  std::size_t first_ = 0;
  std::size_t run_count_ = 0;
  std::size_t capacity_ = kInlineRuns;
  std::array<Run, kInlineRuns> inline_{};
  std::unique_ptr<Run[]> heap_;  // in place of inline_ when set
};

}  // namespace sluice::protocol
