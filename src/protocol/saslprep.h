#pragma once

#include <string>
#include <string_view>

namespace sluice::protocol {

// A password as SCRAM hashes it. ASCII stays as it is, control characters included; other valid UTF-8 goes
// through SASLprep (RFC 4013); what is not valid UTF-8, or what SASLprep forbids or reduces to nothing, is
// taken byte for byte. These are PostgreSQL's rules, on both of its sides, so every password that works there
// works here.
std::string saslprep(std::string_view password);

}  // namespace sluice::protocol
