#pragma once

#include <string>
#include <string_view>

namespace sluice {

// A cell of CSV (RFC 4180): in quotes where it has to be.
std::string csv_cell(std::string_view text);

}  // namespace sluice
