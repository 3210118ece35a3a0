#pragma once

#include "calibration/calibration.h"

namespace sluice::calibration {

inline Measurement sample_measurement(double median_ms) {
  return {Millis(median_ms), Millis(median_ms * 0.99), Millis(median_ms * 1.01), 500,
          std::chrono::sys_days(std::chrono::year(2026) / 1 / 31) + std::chrono::hours(12)};
}

// The published medians; the routes' are those that its estimates imply.
inline Calibration sample() {
  Calibration c;
  c.hosts = {{"a", sample_measurement(0.741), sample_measurement(0.088), sample_measurement(0.355)},
             {"b", sample_measurement(1.480), sample_measurement(0.601), sample_measurement(0.231)}};
  c.routes = {{"/feed",
               3,
               NSerialSource::Configured,
               {{"a", sample_measurement(2.261), {}, {}}, {"b", sample_measurement(2.451), {}, {}}}},
              {"/feed-naive",
               12,
               NSerialSource::Counted,
               {{"a", sample_measurement(5.650), {}, {}}, {"b", sample_measurement(4.449), {}, {}}}},
              {"/unknown \"x\"", {}, NSerialSource::Configured, {{"a", sample_measurement(1), {}, {}}}}};
  complete(c);
  return c;
}

}  // namespace sluice::calibration
