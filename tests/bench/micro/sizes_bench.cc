#include <string>
#include <string_view>

#include <benchmark/benchmark.h>

#include "sizes/fingerprint.h"
#include "sizes/size_estimate.h"

namespace sluice::sizes {
namespace {

// 200 bytes each.
constexpr std::string_view kJoin =
    "SELECT o.id, o.total, c.name FROM orders o JOIN customers c ON c.id = o.customer_id WHERE o.status = "
    "'open' "
    "AND o.created_at > '2024-01-01' AND c.region IN (1, 2, 3, 5, 8) ORDER BY o.id LIMIT 20 FOR ";
constexpr std::string_view kUpdate =
    "UPDATE pgbench_accounts SET abalance = abalance + -4231, filler = "
    "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' WHERE aid = 8812345 AND bid = 17 RETURNING abalance, aid   ";
constexpr std::string_view kPrepared =
    "select \"t0\".\"id\", \"t0\".\"name\" from \"public\".\"users\" as \"t0\" where (\"t0\".\"id\" = $1 and "
    "\"t0\".\"deleted\" = $2) order by \"t0\".\"name\" asc limit $3 offset $4 /*route='/feed'*/   ";

void fingerprints(benchmark::State& state, std::string_view sql) {
  std::string text(sql);
  text.resize(200, ' ');
  for (auto _ : state) {
    benchmark::DoNotOptimize(text.data());
    benchmark::DoNotOptimize(fingerprint(text));
  }
}
BENCHMARK_CAPTURE(fingerprints, join, kJoin);
BENCHMARK_CAPTURE(fingerprints, update, kUpdate);
BENCHMARK_CAPTURE(fingerprints, prepared, kPrepared);

// The same, in turn, so that the processor cannot learn one text by heart.
void fingerprints_of_many(benchmark::State& state) {
  std::string texts[64];
  for (std::size_t i = 0; i < std::size(texts); ++i) {
    texts[i] = i % 3 == 0 ? kJoin : i % 3 == 1 ? kUpdate : kPrepared;
    texts[i].insert(7 + i % 5, std::string(i / 5 + 1, static_cast<char>('a' + i % 26)));
    texts[i].resize(200, ' ');
  }
  std::size_t i = 0;
  for (auto _ : state)
    benchmark::DoNotOptimize(fingerprint(texts[i++ * 29 % std::size(texts)]));
}
BENCHMARK(fingerprints_of_many);

void size_estimate_add(benchmark::State& state) {
  SizeEstimate estimate;
  double seconds = 0.001;
  for (auto _ : state) {
    seconds = seconds > 1 ? 0.001 : seconds * 1.1;
    estimate.add(seconds);
  }
  benchmark::DoNotOptimize(estimate.mean());
}
BENCHMARK(size_estimate_add);

}  // namespace
}  // namespace sluice::sizes
