#include "net/buffer_pool.h"

#include <algorithm>
#include <new>

#include <sys/mman.h>
#include <unistd.h>

#include "base/assert.h"

namespace sluice::net {

BufferPool::BufferPool(std::size_t buffer_bytes, std::size_t free_max) : free_max_(free_max) {
  SLUICE_ASSERT(buffer_bytes > 0);
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  buffer_bytes_ = (buffer_bytes + page - 1) / page * page;
  free_.reserve(free_max);  // so that give_back never allocates
}

BufferPool::~BufferPool() {
  SLUICE_ASSERT(lent_ == 0);
  for (std::byte* data : free_)
    unmap(data);
}

PooledBuffer BufferPool::take() {
  std::byte* data = nullptr;
  if (!free_.empty()) {
    data = free_.back();  // the one used last: most likely still in the cache
    free_.pop_back();
    unused_ = std::min(unused_, free_.size());
  } else {
    void* mapped = ::mmap(nullptr, buffer_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) throw std::bad_alloc();
    data = static_cast<std::byte*>(mapped);
    unused_ = 0;
  }
  ++lent_;
  return {this, data};
}

void BufferPool::give_back(std::byte* data) noexcept {
  --lent_;
  if (free_.size() < free_max_) {
    free_.push_back(data);
  } else {
    unmap(data);
  }
}

void BufferPool::trim() noexcept {
  const std::size_t excess = (unused_ + 1) / 2;
  for (std::size_t i = 0; i < excess; ++i) {
    unmap(free_.back());
    free_.pop_back();
  }
  unused_ = free_.size();
}

void BufferPool::unmap(std::byte* data) noexcept {
  ::munmap(data, buffer_bytes_);
}

}  // namespace sluice::net
