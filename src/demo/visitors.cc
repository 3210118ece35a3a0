#include "demo/visitors.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <iostream>
#include <string>

#include "demo/http_get.h"
#include "demo/signals.h"

namespace sluice::demo {
namespace {

using namespace std::chrono_literals;

constexpr std::array kVisited = {"/item", "/item", "/feed"};  // in turn
constexpr auto kVisitInterval = 33ms;
constexpr auto kVisitTimeout = 2s;

}  // namespace

int run_visitors(std::uint16_t placer_port) {
  Signals signals;
  int visits = 0, failed = 0;
  for (Clock::time_point next = Clock::now(); signals.wait_until(next) != Signals::Wake::Stop;
       next = std::max(next + kVisitInterval, Clock::now())) {
    const char* const path = kVisited[static_cast<std::size_t>(visits++) % kVisited.size()];
    const auto answer = http_get(placer_port, path, kVisitTimeout);
    if (answer && answer->status == 200) continue;
    if (failed++ == 0) std::cerr << path << ": " << (answer ? answer->body : "no answer\n") << std::flush;
  }
  std::cout << visits << " visits, " << failed << " failed" << std::endl;
  return 0;
}

}  // namespace sluice::demo
