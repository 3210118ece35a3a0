#pragma once

#include <string_view>

#include "pooling/sql_facts.h"
#include "pooling/sql_lexer.h"

namespace sluice::pooling {

// What `sql` does that concerns pooling. A lexer of PostgreSQL's tokens cuts the text at its semicolons, the
// first words of each statement tell its kind, and calls of the advisory lock functions and of set_config are
// found anywhere. No expression is understood, nor what the body of a function does. Of a DO block the same
// is looked at, cut into statements as PL/pgSQL has them, and its strings as texts that it may execute; of
// what it does to settings there are steps, what it listens to pins.
//   SET: also SET SESSION x, TIME ZONE (timezone), NAMES (client_encoding), SCHEMA (search_path), ROLE,
//   SESSION
//        AUTHORIZATION (session_authorization), XML OPTION (xmloption), SESSION CHARACTERISTICS
//        (default_transaction_...). SET LOCAL, SET TRANSACTION and SET CONSTRAINTS are nothing, as is
//        set_config('x', ..., true).
//   A search_path with pg_temp in it pins as a temporary table does, SET LOCAL and all: what is created then
//   may be one.
//   PinReason::Set is given for set_config() of a name that the text does not tell, unless its last argument
//   is true; which settings follow is the session's business (TrackedSettings).
// Errors: none. A text that PostgreSQL would refuse gives whatever its words look like; a string or comment
// that
//         does not end goes to the end of the text.
// Cost:   O(text). An ordinary statement is one pass over its bytes without allocation.
SqlFacts classify(std::string_view sql, Backslash backslash = Backslash::Literal);

// True when classify() would give ordinary facts, one statement and no target; false when it has to look.
bool surely_ordinary(std::string_view sql) noexcept;

// A NOTIFY or a pg_notify() may be in it; in doubt, yes. O(text).
bool mentions_notify(std::string_view sql) noexcept;

// Looks only as far as the target: comments and words in front, and a comment at the end. O(1) for most
// texts.
Target target_of(std::string_view sql) noexcept;

}  // namespace sluice::pooling
