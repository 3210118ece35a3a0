#pragma once

#include "sluice/rng.h"

namespace sluice::policy {

using sluice::Rng;

}  // namespace sluice::policy
