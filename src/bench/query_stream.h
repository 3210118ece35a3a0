#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/rng.h"

#include "bench/query_file.h"

namespace sluice::bench {

// The pause between a query's end and the next one.
struct Think {
  enum class Law { Exponential, Fixed } law = Law::Exponential;
  double mean = 0;  // seconds

  // "0.5", the mean of an exponential law, or "fixed:0.5"; seconds from 0 to 1e6.
  static std::optional<Think> parse(std::string_view text);
  std::string text() const;
};

// What one session asks, one after the other: the same for the same seed, whoever answers and how quickly.
class QueryStream {
 public:
  // `shapes`: not empty, and outlive this.
  QueryStream(std::span<const QueryShape> shapes, Think think, std::uint64_t seed) noexcept
      : shapes_(shapes), think_(think), rng_(seed) {}

  struct Next {
    const QueryShape* shape = nullptr;
    std::vector<std::optional<std::string>> values;
    double pause = 0;  // behind it, seconds
  };
  Next next();

 private:
  std::span<const QueryShape> shapes_;
  Think think_;
  Rng rng_;
};

}  // namespace sluice::bench
