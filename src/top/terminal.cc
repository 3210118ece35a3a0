#include "top/terminal.h"

#include <cerrno>
#include <cstdlib>
#include <string>
#include <string_view>

#include <poll.h>
#include <unistd.h>

namespace sluice::top {
namespace {

// ECMA-48, as every terminal since the VT100 understands it; the alternate screen is xterm's.
constexpr std::string_view kEnter = "\033[?1049h\033[?25l";
constexpr std::string_view kLeave = "\033[?25h\033[?1049l";
constexpr std::string_view kHome = "\033[H";
constexpr std::string_view kEraseLine = "\033[K";
constexpr std::string_view kEraseBelow = "\033[J";
constexpr std::string_view kReset = "\033[0m";

std::string_view style_start(Style style) {
  switch (style) {
    case Style::Plain:
      return "";
    case Style::Heading:
      return "\033[7m";
    case Style::Title:
      return "\033[1m";
    case Style::Warning:
      return "\033[1;31m";
  }
  return "";
}

}  // namespace

bool Terminal::usable() {
  return ::isatty(STDIN_FILENO) == 1 && terminal::Output::capable();
}

Terminal::Terminal() : colour_(std::getenv("NO_COLOR") == nullptr) {
  ::tcgetattr(STDIN_FILENO, &before_);
  termios raw = before_;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  raw.c_cc[VMIN] = 0;
  raw.c_cc[VTIME] = 0;
  ::tcsetattr(STDIN_FILENO, TCSANOW, &raw);
  output_.write(kEnter);
}

Terminal::~Terminal() {
  if (!lost()) output_.write(kLeave);
  ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

void Terminal::draw(const std::vector<Line>& lines) {
  std::string text(kHome);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string_view start =
        colour_ || lines[i].style == Style::Heading ? style_start(lines[i].style) : "";
    if (i > 0) text += "\r\n";
    text.append(start).append(lines[i].text);
    if (!start.empty()) text += kReset;
    text += kEraseLine;
  }
  text += kEraseBelow;
  if (!lost()) output_.write(text);
}

std::optional<char> Terminal::key() {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  if (::poll(&input, 1, 0) <= 0) return std::nullopt;
  char key = 0;
  const ssize_t count = ::read(STDIN_FILENO, &key, 1);
  if (count == 1) return key;
  input_lost_ = count == 0 || errno != EINTR;
  return std::nullopt;
}

}  // namespace sluice::top
