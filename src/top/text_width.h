#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sluice::top {

// At most `columns` characters of the text, and exactly that many if `pad`: names come from clients, so what
// a terminal would obey (control characters), and bytes that are no UTF-8, become '?'. A character counts as
// one column.
enum class Pad { None, Left, Right };  // where blanks go
std::string fit(std::string_view text, std::size_t columns, Pad pad = Pad::None);
std::size_t width(std::string_view text);  // characters of fit(text, everything)

}  // namespace sluice::top
