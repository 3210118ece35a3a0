#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>

#include "base/assert.h"
#include "decide/run.h"

// Whatever comes in: an answer per good open, and either a state line or one line of error.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::istringstream in(std::string(reinterpret_cast<const char*>(data), size));
  std::ostringstream out, err;
  const auto result = sluice::decide::run(in, out, err);
  const std::string error = err.str();
  if (result == sluice::decide::RunResult::Complete) {
    SLUICE_ASSERT(error.empty());
    SLUICE_ASSERT(out.str().find(R"({"op":"state")") != std::string::npos);
  } else {
    SLUICE_ASSERT(error.rfind("line ", 0) == 0);
    SLUICE_ASSERT(error.find('\n') == error.size() - 1);
  }
  return 0;
}
