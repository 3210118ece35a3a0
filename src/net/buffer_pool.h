#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace sluice::net {

class BufferPool;

// A buffer on loan from a pool, which must outlive it; empty when default-constructed or given back.
class PooledBuffer {
 public:
  PooledBuffer() = default;
  PooledBuffer(PooledBuffer&& other) noexcept
      : pool_(std::exchange(other.pool_, nullptr)), data_(std::exchange(other.data_, nullptr)) {}
  PooledBuffer& operator=(PooledBuffer&& other) noexcept {
    if (this == &other) return *this;
    reset();
    pool_ = std::exchange(other.pool_, nullptr);
    data_ = std::exchange(other.data_, nullptr);
    return *this;
  }
  ~PooledBuffer() { reset(); }

  explicit operator bool() const noexcept { return data_ != nullptr; }
  inline std::span<std::byte> span() const noexcept;
  inline void reset() noexcept;

 private:
  friend class BufferPool;
  PooledBuffer(BufferPool* pool, std::byte* data) : pool_(pool), data_(data) {}
  BufferPool* pool_ = nullptr;
  std::byte* data_ = nullptr;
};

// Buffers of one size for one thread. A buffer given back is kept for the next taker, up to `free_max`;
// beyond that, and what trim() finds unused, goes back to the operating system. Contents are never cleared:
// whoever reads a buffer has written it.
class BufferPool {
 public:
  static constexpr std::size_t kDefaultBufferBytes = 16 * 1024;

  // `buffer_bytes` is rounded up to whole pages.
  explicit BufferPool(std::size_t buffer_bytes = kDefaultBufferBytes, std::size_t free_max = 1024);
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;
  ~BufferPool();  // asserts that all buffers are back

  // Throws std::bad_alloc when the operating system has no memory.
  PooledBuffer take();
  // To be called at a steady pace (each second): frees half of the buffers that lay unused since the last
  // call.
  void trim() noexcept;

  std::size_t buffer_bytes() const noexcept { return buffer_bytes_; }
  std::size_t lent() const noexcept { return lent_; }
  std::size_t free() const noexcept { return free_.size(); }

 private:
  friend class PooledBuffer;
  void give_back(std::byte* data) noexcept;
  void unmap(std::byte* data) noexcept;

  std::size_t buffer_bytes_;
  std::size_t free_max_;
  std::size_t lent_ = 0;
  std::size_t unused_ = 0;  // the fewest free buffers since the last trim()
  std::vector<std::byte*> free_;
};

std::span<std::byte> PooledBuffer::span() const noexcept {
  if (data_ == nullptr) return {};
  return {data_, pool_->buffer_bytes()};
}

void PooledBuffer::reset() noexcept {
  if (data_ != nullptr) pool_->give_back(std::exchange(data_, nullptr));
}

}  // namespace sluice::net
