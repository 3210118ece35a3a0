#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "config/problem.h"

namespace sluice::config {

inline constexpr std::size_t kUserlistBytesMax = std::size_t{64} << 20;

// A line is `"user" "secret"`, anything behind the second string is ignored as PgBouncer does; a quote inside
// is doubled; empty lines and lines that begin with ; are skipped (# too). A user given twice is an error.
// `text` is at most kUserlistBytesMax. Gives the entries sorted by name; problems carry line and column,
// never a secret.
std::vector<UserEntry> parse_userlist(std::string_view text, const std::string& file, Problems& problems);

enum class SecretKind { None, Plain, Md5, Scram };
// By its look alone, as PgBouncer and PostgreSQL decide it.
SecretKind secret_kind(std::string_view secret);

}  // namespace sluice::config
