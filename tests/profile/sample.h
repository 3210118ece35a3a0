#pragma once

#include <cstdint>

#include "profile/contents.h"

namespace sluice::profile {

// Contents with every field set to something of its own, which `salt` changes.
Contents sample_contents(std::uint64_t salt = 0);

}  // namespace sluice::profile
