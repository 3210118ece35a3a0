#pragma once

#include <cstdint>
#include <optional>

#include "base/bytes.h"
#include "pooling/sql_lexer.h"

namespace sluice::pooling {

enum class StandInFor : std::uint8_t { Bind, Describe };

// The body of a Parse (behind the name) for a server that lacks a statement of the client's while the
// client's transaction block has failed. There PostgreSQL parses only what ends the block, and an empty text;
// of a statement that it has, it says more: a Bind with a wrong number of parameters is refused for that, and
// a Describe of one without rows is answered. An empty text with the statement's parameter types gets the
// same answers, since nothing is run in a failed block. `body`: of the statement's own Parse, well-formed.
// Nothing: the statement itself is to be sent, because it ends a block, or is refused with 25P02 whether the
// server has it or not, or because its text does not tell the number (Bind) or types (Describe) of its
// parameters. Source: PostgreSQL, exec_bind_message() and exec_describe_statement_message(). Cost: O(text).
std::optional<Bytes> stand_in(ByteView body, Backslash backslash, StandInFor use);

}  // namespace sluice::pooling
