#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

namespace sluice::terminal {

// "[=======>            ]  36%  3,744 of 10,400, 0:21 left", numbers rounded down. Time left is guessed from
// the pace so far; blank before 1 is done. Pure.
std::string progress_line(double done, double of, std::chrono::steady_clock::duration elapsed);

// What is waited for while nothing more gets done.
struct Awaited {
  std::string_view what;
  std::size_t count = 0;
  std::chrono::steady_clock::duration at_most{};
};
// "[=======>            ]  50%  waiting for answers: 2,500, 0:48 at most". Pure.
std::string waiting_line(double done, double of, const Awaited& awaited);

// Redraws one line of a terminal on standard error, ten times a second at most; silent where that is no
// terminal.
class Progress {
 public:
  Progress();
  ~Progress();  // clear()
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void step(double done, double of);
  void wait(double done, double of, const Awaited& awaited);
  // Takes the line away: to be called before anything else is printed. The next step draws it again.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  bool due(Clock::time_point now) const;
  void draw(const std::string& line, Clock::time_point now);

  bool terminal_;
  bool drawn_ = false;
  Clock::time_point began_, drawn_at_{};
};

}  // namespace sluice::terminal
