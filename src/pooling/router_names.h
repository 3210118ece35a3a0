#pragma once

#include <string>
#include <string_view>

#include "pooling/statement.h"

namespace sluice::pooling {

// A statement with an empty text, which PostgreSQL takes also in a failed transaction: what is prepared under
// its name is refused as a duplicate, and it is what a DEALLOCATE of a client's name takes away.
inline constexpr std::string_view kGuardName = "sluice.guard";
// Nobody's: closing it does nothing and is answered in its place.
inline constexpr std::string_view kNobodyName = "sluice.nobody";
// No statement that can be parsed, in whatever state the transaction is.
inline constexpr std::string_view kRefusedSql = "sluice";

// In front of a client's name that could be one of ours.
inline constexpr std::string_view kForeignPrefix = "sluice.of.";

// What a name is on the server that is none of the client's protocol-level statements: itself, so that SQL's
// PREPARE and errors are as without us, unless it could be one of ours.
inline std::string foreign_name(std::string_view name) {
  std::string own;
  if (name.starts_with(kNamePrefix)) own = kForeignPrefix;
  own += name;
  return own;
}

}  // namespace sluice::pooling
