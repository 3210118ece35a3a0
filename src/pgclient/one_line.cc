#include "pgclient/one_line.h"

namespace sluice::pgclient {

std::string one_line(std::string_view message) {
  std::string line;
  bool space = false;
  for (const char c : message) {
    if (line.size() >= kMessageBytesMax) {
      line += "...";
      break;
    }
    if (c == ' ' || c == '\n' || c == '\r' || c == '\t') {
      space = !line.empty();
      continue;
    }
    if (space) line += ' ';
    space = false;
    const auto byte = static_cast<unsigned char>(c);
    line += byte < 0x20 || byte == 0x7F ? '?' : c;
  }
  return line;
}

}  // namespace sluice::pgclient
