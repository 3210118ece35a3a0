#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace sluice::net {

class BufferPool;

// A buffer on loan from a pool, which must outlive it; empty when default-constructed or given back.
class PooledBuffer {
 public:
  PooledBuffer() = default;
  PooledBuffer(PooledBuffer&& other) noexcept;
  PooledBuffer& operator=(PooledBuffer&& other) noexcept;
  ~PooledBuffer() { reset(); }

  explicit operator bool() const noexcept { return data_ != nullptr; }
  std::span<std::byte> span() const noexcept;
  void reset() noexcept;

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

}  // namespace sluice::net
