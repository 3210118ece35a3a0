#include "demo/screen.h"

#include <cstdlib>

namespace sluice::demo {
namespace {

constexpr std::chrono::seconds kStatusInterval{2};

}  // namespace

Screen::Screen()
    : terminal_(terminal::Output::capable()), colour_(terminal_ && std::getenv("NO_COLOR") == nullptr) {}

void Screen::say(const std::string& line) {
  output_.write(line + "\n");
}

void Screen::show(const TableState& state) {
  terminal_ ? redraw(state) : append(state);
}

void Screen::redraw(const TableState& state) {
  const terminal::Size size = terminal::Output::size();
  const auto lines = table_lines(state, size.columns, size.rows - 1, colour_ ? Colour::On : Colour::Off);
  std::string text;
  if (drawn_lines_ > 0) text = "\033[" + std::to_string(drawn_lines_) + "A";
  for (const std::string& line : lines)
    text += "\r" + line + "\033[K\n";
  text += "\033[J";  // what a longer table left below
  drawn_lines_ = lines.size();
  output_.write(text);
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
