#pragma once

#include <cstddef>
#include <string_view>

#include <unistd.h>

namespace sluice::terminal {

struct Size {
  std::size_t columns = 80, rows = 24;
};

// Standard output, blocking. One thread.
class Output {
 public:
  // It, or another descriptor, is a terminal on which the cursor can be moved.
  static bool capable(int descriptor = STDOUT_FILENO);
  // As it is now; 80 by 24 where it does not say.
  static Size size(int descriptor = STDOUT_FILENO);

  void write(std::string_view text);
  // Nobody reads any more; further writes do nothing.
  bool lost() const noexcept { return lost_; }

 private:
  bool lost_ = false;
};

}  // namespace sluice::terminal
