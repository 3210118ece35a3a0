#pragma once

#include <string>

#include "profile/contents.h"

namespace sluice::profile {

// A profile as tables for a terminal: who writes it and whether it lives, hosts, servers, the matrix, shares,
// routes and residuals, with ages. Control characters in names are shown as "?".
std::string report(const Profile& profile, Moment now);

}  // namespace sluice::profile
