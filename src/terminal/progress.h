#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace sluice::terminal {

// "[=======>            ]  36%  3,744 of 10,400, 0:21 left". Time left is guessed from the pace so far; blank
// before anything is done. Pure.
std::string progress_line(std::size_t done, std::size_t of, std::chrono::steady_clock::duration elapsed);

// Redraws one line of a terminal on standard error, ten times a second at most; silent where that is no
// terminal.
class Progress {
 public:
  Progress();
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void step(std::size_t done, std::size_t of);

 private:
  bool terminal_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point began_, drawn_at_{};
};

}  // namespace sluice::terminal
