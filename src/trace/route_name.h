#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace sluice::trace {

// The name of a route, shared by what the sessions of one thread remember and report; none by default. Names
// are the same when they are shared, whatever their text.
// Why not shared_ptr: its counts are atomic, and an atomic instruction waits until all that was written
// before it has arrived. Here that is a batch which another processor has just read: it took a tenth of a
// microsecond per call.
// Thread: all that share a name are of one thread.
class RouteName {
 public:
  RouteName() = default;
  explicit RouteName(std::string text) : shared_(new Shared{std::move(text)}) {}
  RouteName(const RouteName& other) noexcept : shared_(other.shared_) {
    if (shared_ != nullptr) ++shared_->owners;
  }
  RouteName(RouteName&& other) noexcept : shared_(std::exchange(other.shared_, nullptr)) {}
  RouteName& operator=(RouteName other) noexcept {
    std::swap(shared_, other.shared_);
    return *this;
  }
  ~RouteName() {
    if (shared_ != nullptr && --shared_->owners == 0) [[unlikely]]
      destroy(shared_);
  }

  explicit operator bool() const noexcept { return shared_ != nullptr; }
  const std::string& operator*() const noexcept { return shared_->text; }
  friend bool operator==(const RouteName&, const RouteName&) = default;

  // Differs between names that are not the same, mostly.
  std::size_t hash() const noexcept { return reinterpret_cast<std::uintptr_t>(shared_) / sizeof(Shared); }

 private:
  struct Shared {
    const std::string text;
    std::size_t owners = 1;
  };
  // Not inlined into whatever has a name: that is done for each call, and this almost never.
  [[gnu::cold]] static void destroy(Shared* shared) noexcept;

  Shared* shared_ = nullptr;
};

}  // namespace sluice::trace
