#pragma once

#include <optional>
#include <vector>

#include <termios.h>

#include "terminal/output.h"
#include "top/page.h"

namespace sluice::top {

// A terminal as top needs it: its alternate screen, keys without Enter, colours where wanted. Gives
// everything back when it is destroyed. One object at a time.
class Terminal {
 public:
  Terminal();
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  // Whether standard input and output are a terminal that can do this.
  static bool usable();

  terminal::Size size() const { return terminal::Output::size(); }
  void draw(const std::vector<Line>& lines);
  // A key that has been pressed; nothing when none was, or the terminal is gone: see lost().
  std::optional<char> key();
  bool lost() const noexcept { return input_lost_ || output_.lost(); }

 private:
  terminal::Output output_;
  termios before_{};
  bool colour_ = true;
  bool input_lost_ = false;
};

}  // namespace sluice::top
