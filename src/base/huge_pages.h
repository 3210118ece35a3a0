#pragma once

#include <cstddef>
#include <new>

#include <sys/mman.h>

namespace sluice {

// An allocator for a large table that is looked up at random places: asks for huge pages, where the system
// has them to give. With small ones a look-up begins with a walk through the page tables, which takes longer
// than the look-up itself, above all on a virtual machine.
// Shape:  from kWorthwhileBytes on, memory in whole huge pages; ordinary memory below.
// Errors: std::bad_alloc, as std::allocator.
template <class T>
class HugePages {
 public:
  static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
  using value_type = T;
  static constexpr std::size_t kPageBytes = std::size_t{2} << 20;
  static constexpr std::size_t kWorthwhileBytes = kPageBytes / 8;

  HugePages() = default;
  template <class U>
  HugePages(const HugePages<U>&) noexcept {}

  T* allocate(std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    if (bytes < kWorthwhileBytes) return static_cast<T*>(::operator new(bytes));
    const std::size_t whole = (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
    void* const memory = ::operator new(whole, std::align_val_t(kPageBytes));
    ::madvise(memory, whole, MADV_HUGEPAGE);  // a refusal leaves it as it is
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t count) noexcept {
    if (count * sizeof(T) < kWorthwhileBytes) return ::operator delete(memory);
    ::operator delete(memory, std::align_val_t(kPageBytes));
  }
  friend bool operator==(const HugePages&, const HugePages&) = default;
};

}  // namespace sluice
