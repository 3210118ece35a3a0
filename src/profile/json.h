#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "profile/contents.h"

namespace sluice::profile {

// A profile as JSON: {"publication": {...}, "hosts": [...], "servers": [...], "rtt": [[...]], ...},
// docs/profile.md. Moments are told as ages in milliseconds, so that another machine can use them; null is
// never.
std::string to_json(const Profile& profile, Moment now);

// The other way: moments are `now` less the ages told. Fields that are missing keep their defaults, unknown
// ones are passed over. Malformed for what is no such JSON; the text may come from anybody.
Result<Profile> from_json(std::string_view text, Moment now);

}  // namespace sluice::profile
