#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace sluice::sim {

// Items with the least key first, and among equal keys the one that was pushed first. O(log n); pushing keys
// that only grow, as first come first served does, costs O(1).
template <class Item>
class WaitQueue {
 public:
  bool empty() const noexcept { return heap_.empty(); }
  std::size_t size() const noexcept { return heap_.size(); }
  double least_key() const noexcept { return heap_.front().key; }

  void push(double key, std::uint64_t order, const Item& item) {
    heap_.push_back({key, order, item});
    std::push_heap(heap_.begin(), heap_.end(), later);
  }
  Item pop() {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    const Item item = heap_.back().item;
    heap_.pop_back();
    return item;
  }

 private:
  struct Entry {
    double key;
    std::uint64_t order;
    Item item;
  };
  static bool later(const Entry& a, const Entry& b) noexcept {
    return a.key != b.key ? a.key > b.key : a.order > b.order;
  }

  std::vector<Entry> heap_;
};

}  // namespace sluice::sim
