#pragma once

#include <cstddef>
#include <string_view>

namespace sluice::terminal {

struct Size {
  std::size_t columns = 80, rows = 24;
};

// Standard output, blocking. One thread.
class Output {
 public:
  // It is a terminal on which the cursor can be moved.
  static bool capable();
  // As it is now; 80 by 24 where it does not say.
  static Size size();

  void write(std::string_view text);
  // Nobody reads any more; further writes do nothing.
  bool lost() const noexcept { return lost_; }

 private:
  bool lost_ = false;
};

}  // namespace sluice::terminal
