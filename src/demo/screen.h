#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "demo/table.h"
#include "terminal/output.h"

namespace sluice::demo {

// Where the live table goes: redrawn in place on a terminal, plain lines otherwise (a status line every two
// seconds, each borrowing and return as it happens).
class Screen {
 public:
  Screen();

  void say(const std::string& line);  // a line that stays
  void show(const TableState& state);
  void finish();  // the table stays where it is; further lines go below
  // Nobody reads any more: the demo may as well end.
  bool lost() const noexcept { return output_.lost(); }

 private:
  void redraw(const TableState& state);
  void append(const TableState& state);

  terminal::Output output_;
  bool terminal_ = false;
  bool colour_ = false;
  std::size_t drawn_lines_ = 0;
  std::int64_t shown_change_ = 0;  // number of the last decision whose changes were printed
  std::chrono::seconds shown_at_{-2};
};

}  // namespace sluice::demo
