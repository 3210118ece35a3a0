#include "terminal/output.h"

#include <cerrno>
#include <cstdlib>

#include <sys/ioctl.h>

namespace sluice::terminal {

bool Output::capable(int descriptor) {
  const char* const term = std::getenv("TERM");
  return ::isatty(descriptor) == 1 && term != nullptr && std::string_view(term) != "dumb";
}

Size Output::size(int descriptor) {
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return {};
  return {size.ws_col, size.ws_row};
}

void Output::write(std::string_view text) {
  while (!text.empty() && !lost_) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written >= 0) text.remove_prefix(static_cast<std::size_t>(written));
    if (written < 0 && errno != EINTR) lost_ = true;
  }
}

}  // namespace sluice::terminal
