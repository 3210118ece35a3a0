#pragma once

#include <functional>
#include <string>
#include <vector>

#include <asio/awaitable.hpp>

#include "calibrate/plan.h"

namespace sluice::calibrate {

// The response times of one kind of request, in ms, in the order taken. `what`: "health", "connect",
// "select_1", or a route's name.
struct Series {
  std::string host, what;
  std::vector<double> ms;
};

// Called after each request with how many have been done of how many.
using OnStep = std::function<void(std::size_t done, std::size_t of)>;

// The published procedure: for every host and every kind of request, warm-ups and then samples, one request
// at a time, over kept connections. It goes round all kinds again and again, so that a slow phase of a
// machine falls on all of them alike, and each time in another order, for what a server has still to do
// behind one answer slows the next. Throws Failure.
asio::awaitable<std::vector<Series>> measure(Plan plan, OnStep on_step);

// Medians, intervals and residuals. Series of "select_1" may be among them. Too few samples for an interval
// have one from the least to the greatest.
calibration::Calibration evaluate(const Plan&, const std::vector<Series>&, calibration::WallTime now);

// What is too noisy to be used, one sentence each: medians whose interval is wider than `width_max` of the
// median and 20 us. Nothing can be placed on a difference that the calibration cannot see.
inline constexpr double kWidthMax = 0.10;
std::vector<std::string> too_noisy(const calibration::Calibration&, double width_max = kWidthMax);

}  // namespace sluice::calibrate
