#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string_view>

#include <gtest/gtest.h>

#include "router/admission.h"
#include "router/snapshot.h"
#include "router/telemetry_names.h"
#include "tests/config/loading.h"

namespace sluice::router::test {

// A snapshot of a configuration, with what it rests on. Three replicas a, b, c and a primary p.
struct Configured {
  explicit Configured(std::string_view more = "") {
    const config::Loading loading;
    const config::LoadOutcome outcome = loading.load_with(more);
    if (!outcome.config) {
      ADD_FAILURE() << config::text_of(outcome.problems);
      std::abort();
    }
    admission = std::make_unique<Admission>(config::pool_config(*outcome.config), AdmissionLimits{});
    names.update(*outcome.config, *admission);
    snapshot = make_snapshot(outcome.config, {}, *admission, names, mock_secret);
  }

  std::array<std::byte, 32> mock_secret{};
  std::unique_ptr<Admission> admission;
  TelemetryNames names;
  SnapshotPtr snapshot;
};

}  // namespace sluice::router::test
