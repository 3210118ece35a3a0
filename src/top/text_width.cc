#include "top/text_width.h"

#include <algorithm>

#include "base/utf8.h"

namespace sluice::top {
namespace {

// Length in bytes of the next character, and what to show for it.
std::size_t next(std::string_view text, std::string_view& shown) {
  const std::size_t length = utf8_length(text);
  const auto first = static_cast<unsigned char>(text.front());
  // C1 controls are two bytes in UTF-8, and some terminals obey them.
  const bool control = first < 0x20 || first == 0x7f ||
                       (length == 2 && first == 0xC2 && static_cast<unsigned char>(text[1]) < 0xA0);
  shown = length == 0 || control ? std::string_view("?") : text.substr(0, length);
  return std::max<std::size_t>(length, 1);
}

}  // namespace

std::string fit(std::string_view text, std::size_t columns, Pad pad) {
  std::string out;
  std::size_t used = 0;
  while (!text.empty() && used < columns) {
    std::string_view shown;
    text.remove_prefix(next(text, shown));
    out += shown;
    ++used;
  }
  if (pad == Pad::Right) out.append(columns - used, ' ');
  if (pad == Pad::Left) out.insert(0, columns - used, ' ');
  return out;
}

std::size_t width(std::string_view text) {
  std::size_t count = 0;
  std::string_view shown;
  for (; !text.empty(); ++count)
    text.remove_prefix(next(text, shown));
  return count;
}

}  // namespace sluice::top
