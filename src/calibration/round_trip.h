#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "sluice/placement/cost.h"

#include "config/enums.h"
#include "profile/contents.h"

namespace sluice::calibration {

// sql(c) by the router's matrix, the one definition for calibrating and for scoring: RTT(host, primary) for a
// target `Primary`; for `Replicas` the mean over those that are up, weighted by the shares of
// `priority_class`, or even where the class is unknown or has no session. Round trips older than `age_max`
// count as unknown. nullopt where nothing of it is known.
std::optional<placement::Millis> sql_by_profile(const profile::Contents&, std::string_view host,
                                                config::Target target, std::string_view priority_class,
                                                profile::Moment now, std::chrono::nanoseconds age_max);

}  // namespace sluice::calibration
