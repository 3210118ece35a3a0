#include "demo/screen.h"

#include <cerrno>
#include <cstdlib>
#include <string_view>

#include <sys/ioctl.h>
#include <unistd.h>

namespace sluice::demo {
namespace {

constexpr std::chrono::seconds kStatusInterval{2};

winsize window_size() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0)
    return {24, 80, 0, 0};
  return size;
}

bool is_capable_terminal() {
  const char* term = std::getenv("TERM");
  return ::isatty(STDOUT_FILENO) == 1 && term != nullptr && std::string_view(term) != "dumb";
}

}  // namespace

Screen::Screen()
    : terminal_(is_capable_terminal()), colour_(terminal_ && std::getenv("NO_COLOR") == nullptr) {}

void Screen::write(const std::string& text) {
  std::string_view left = text;
  while (!left.empty() && !lost_) {
    const ssize_t written = ::write(STDOUT_FILENO, left.data(), left.size());
    if (written >= 0) left.remove_prefix(static_cast<std::size_t>(written));
    if (written < 0 && errno != EINTR) lost_ = true;
  }
}

void Screen::say(const std::string& line) {
  write(line + "\n");
}

void Screen::show(const TableState& state) {
  terminal_ ? redraw(state) : append(state);
}

void Screen::redraw(const TableState& state) {
  const winsize size = window_size();
  const auto lines = table_lines(state, size.ws_col, size.ws_row - 1U, colour_ ? Colour::On : Colour::Off);
  std::string text;
  if (drawn_lines_ > 0) text = "\033[" + std::to_string(drawn_lines_) + "A";
  for (const std::string& line : lines)
    text += "\r" + line + "\033[K\n";
  text += "\033[J";  // what a longer table left below
  drawn_lines_ = lines.size();
  write(text);
}

void Screen::append(const TableState& state) {
  for (const RoleChange& change : state.changes)
    if (change.number > shown_change_) say("       " + change_line(change));
  if (!state.changes.empty()) shown_change_ = state.changes.back().number;
  if (state.elapsed < shown_at_ + kStatusInterval) return;
  shown_at_ = state.elapsed;
  say(status_line(state));
}

void Screen::finish() {
  drawn_lines_ = 0;
}

}  // namespace sluice::demo
