#pragma once

#include <span>
#include <variant>

#include "admin/statement.h"

namespace sluice::admin {

// The few SELECTs that drivers and monitoring send to any server: a list of literals, session names and
// functions without a table. `tokens` begins with SELECT. 0A000 for everything else.
std::variant<ConstantRow, SqlError> parse_select(std::span<const Token> tokens, const SessionFacts& facts);

}  // namespace sluice::admin
