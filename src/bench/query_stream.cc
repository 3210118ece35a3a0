#include "bench/query_stream.h"

#include "sluice/stats/portable_math.h"

#include "base/text.h"
#include "sim/table.h"

namespace sluice::bench {

std::optional<Think> Think::parse(std::string_view text) {
  constexpr std::string_view kFixed = "fixed:";
  Think think;
  if (text.starts_with(kFixed)) {
    think.law = Law::Fixed;
    text.remove_prefix(kFixed.size());
  }
  const auto mean = to_number<double>(text);
  if (!mean || !(*mean >= 0 && *mean <= 1e6)) return std::nullopt;
  think.mean = *mean;
  return think;
}

std::string Think::text() const {
  return (law == Law::Fixed ? "fixed:" : "") + sim::digits(mean, 6);
}

QueryStream::Next QueryStream::next() {
  Next next;
  next.shape = &shapes_[rng_.below(shapes_.size())];
  next.values = next.shape->draw(rng_);
  const double unit = rng_.unit();  // also when the pause is fixed: the queries stay the same
  next.pause = think_.law == Think::Law::Fixed ? think_.mean : -think_.mean * stats::portable::log(1 - unit);
  return next;
}

}  // namespace sluice::bench
