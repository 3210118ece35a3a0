#include "terminal/progress.h"

#include <algorithm>
#include <cstdio>

#include <unistd.h>

#include "terminal/output.h"

namespace sluice::terminal {
namespace {

using Seconds = std::chrono::duration<double>;

constexpr std::size_t kBarWidth = 30;

std::string with_commas(std::size_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3;)
    text.insert(at -= 3, ",");
  return text;
}

std::string minutes(Seconds time) {
  const auto seconds = static_cast<long>(time.count());
  char text[48];
  std::snprintf(text, sizeof text, "%ld:%02ld", seconds / 60, seconds % 60);
  return text;
}

double share_of(double done, double of) {
  return of > 0 ? done / of : 1;
}

std::string bar(double share) {
  const auto filled = static_cast<std::size_t>(share * static_cast<double>(kBarWidth));
  std::string bar(filled, '=');
  if (filled < kBarWidth) bar += '>';
  bar.resize(kBarWidth, ' ');
  char percent[8];
  std::snprintf(percent, sizeof percent, "%3.0f%%", 100 * share);
  return "[" + bar + "] " + percent + "  ";
}

}  // namespace

std::string progress_line(double done, double of, std::chrono::steady_clock::duration elapsed) {
  const double share = share_of(done, of);
  std::string line = bar(share) + with_commas(static_cast<std::size_t>(done)) + " of " +
                     with_commas(static_cast<std::size_t>(of));
  if (done >= 1) line += ", " + minutes(Seconds(elapsed) * (1 - share) / share) + " left";
  return line;
}

std::string waiting_line(double done, double of, const Awaited& awaited) {
  return bar(share_of(done, of)) + "waiting for " + std::string(awaited.what) + ": " +
         with_commas(awaited.count) + ", " + minutes(awaited.at_most) + " at most";
}

Progress::Progress() : terminal_(Output::capable(STDERR_FILENO)), began_(Clock::now()) {}

Progress::~Progress() {
  clear();
}

void Progress::step(double done, double of) {
  const auto now = Clock::now();
  if (due(now)) draw(progress_line(done, of, now - began_), now);
}

void Progress::wait(double done, double of, const Awaited& awaited) {
  const auto now = Clock::now();
  if (due(now)) draw(waiting_line(done, of, awaited), now);
}

void Progress::clear() {
  if (drawn_) std::fputs("\r\033[K", stderr);
  drawn_ = false;
}

bool Progress::due(Clock::time_point now) const {
  return terminal_ && now - drawn_at_ >= std::chrono::milliseconds(100);
}

void Progress::draw(const std::string& line, Clock::time_point now) {
  drawn_ = true;
  drawn_at_ = now;
  // A line that went on in the next row would not be drawn over.
  const std::size_t width = std::min(line.size(), Output::size(STDERR_FILENO).columns - 1);
  std::fprintf(stderr, "\r%s\033[K", line.substr(0, width).c_str());
  std::fflush(stderr);
}

}  // namespace sluice::terminal
