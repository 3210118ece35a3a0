#pragma once

#include <optional>
#include <string_view>

#include "pooling/sql_facts.h"

namespace sluice::pooling {

// How the server reads a backslash in '...': the setting standard_conforming_strings.
enum class Backslash : std::uint8_t { Literal, Escape };

// What `sql` does that concerns pooling. A lexer of PostgreSQL's tokens ('' "" E'' U&'' B'' $tag$ strings,
// nested comments, -- comments, parameters) cuts the text at its semicolons, the first words of each
// statement tell its kind, and calls of the advisory lock functions are found anywhere. No expression is
// understood: a lock taken in a function's body, or through EXECUTE of a string, is not seen. What counts as
// what:
//   SET x, SET SESSION x, SET TIME ZONE/NAMES/ROLE/SESSION AUTHORIZATION/SESSION CHARACTERISTICS/XML
//   OPTION/SCHEMA:
//     Set of timezone, client_encoding, role, session_authorization, default_transaction_isolation (which
//     stands for the three characteristics), xmloption, search_path. SET LOCAL, SET TRANSACTION, SET
//     CONSTRAINTS: nothing.
//   set_config('x', ..., true) nothing; otherwise Set of x when the name is a plain literal.
//   Pins Set are NOT given here: which settings follow is the session's business (TrackedSettings).
// Errors: none. A text that PostgreSQL would refuse gives whatever its words look like; an unended string or
//         comment ends with the text.
// Cost:   O(text). An ordinary statement (no semicolon but at its end, no word of interest) is one pass over
// the
//         bytes without allocation.
SqlFacts classify(std::string_view sql, Backslash backslash = Backslash::Literal);

// True when classify() would give ordinary facts, one statement and no target; false when it has to look.
bool surely_ordinary(std::string_view sql) noexcept;

// Looks only as far as the target: comments and words in front, and a comment at the end. O(1) for most
// texts.
Target target_of(std::string_view sql) noexcept;

}  // namespace sluice::pooling
