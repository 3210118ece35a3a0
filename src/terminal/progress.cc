#include "terminal/progress.h"

#include <cstdio>

#include <unistd.h>

namespace sluice::terminal {
namespace {

constexpr std::size_t kBarWidth = 30;

std::string with_commas(std::size_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3;)
    text.insert(at -= 3, ",");
  return text;
}

}  // namespace

std::string progress_line(std::size_t done, std::size_t of, std::chrono::steady_clock::duration elapsed) {
  const double share = of == 0 ? 1 : static_cast<double>(done) / static_cast<double>(of);
  const auto filled = static_cast<std::size_t>(share * static_cast<double>(kBarWidth));
  std::string bar(filled, '=');
  if (filled < kBarWidth) bar += '>';
  bar.resize(kBarWidth, ' ');
  char percent[8];
  std::snprintf(percent, sizeof percent, "%3.0f%%", 100 * share);
  std::string line = "[" + bar + "] " + percent + "  " + with_commas(done) + " of " + with_commas(of);
  if (done == 0) return line;
  const double left = std::chrono::duration<double>(elapsed).count() * (1 - share) / share;
  char clock[32];
  std::snprintf(clock, sizeof clock, ", %d:%02d left", static_cast<int>(left) / 60,
                static_cast<int>(left) % 60);
  return line + clock;
}

Progress::Progress() : terminal_(::isatty(STDERR_FILENO) == 1), began_(std::chrono::steady_clock::now()) {}

Progress::~Progress() {
  if (drawn_) std::fputs("\r\033[K", stderr);
}

void Progress::step(std::size_t done, std::size_t of) {
  const auto now = std::chrono::steady_clock::now();
  if (!terminal_ || (now - drawn_at_ < std::chrono::milliseconds(100) && done < of)) return;
  drawn_ = true;
  drawn_at_ = now;
  std::fprintf(stderr, "\r%s\033[K", progress_line(done, of, now - began_).c_str());
  std::fflush(stderr);
}

}  // namespace sluice::terminal
