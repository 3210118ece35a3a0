#include <cstddef>
#include <cstdint>
#include <string>

#include "base/assert.h"
#include "bench/cpu_accounting.h"
#include "bench/query_file.h"
#include "bench/replica_spec.h"
#include "bench/run_info.h"

// Any bytes are a query file, a run.json, a replica or one of the kernel's texts, or are refused. What is
// taken can be used.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sluice;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto parsed = bench::parse_query_file({"f.sql", text}, bench::Scale());
  if (const auto* const shape = std::get_if<bench::QueryShape>(&parsed)) {
    Rng rng(1);
    SLUICE_ASSERT(shape->draw(rng).size() == shape->parameters.size());
    SLUICE_ASSERT(shape->sql.find('\0') == std::string::npos);
  } else {
    SLUICE_ASSERT(!std::get<bench::Problem>(parsed).message.empty());
  }
  const auto info = bench::parse_run_info(text, "run.json");
  if (const auto* const run = std::get_if<bench::RunInfo>(&info))
    SLUICE_ASSERT(
        std::holds_alternative<bench::RunInfo>(bench::parse_run_info(bench::to_json(*run), "again")));
  if (const auto replica = bench::ReplicaSpec::parse(text)) SLUICE_ASSERT(!replica->name.empty());
  SLUICE_ASSERT(bench::parse_cpu_stat(text).value_or(0) >= 0);
  SLUICE_ASSERT(bench::parse_cpuacct_usage(text).value_or(0) >= 0);
  SLUICE_ASSERT(bench::parse_cpu_max(text).value_or(0) >= 0);
  (void)bench::parse_process_stat(text);
  return 0;
}
