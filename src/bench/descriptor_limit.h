#pragma once

#include <cstddef>

namespace sluice::bench {

// Raises this process's limit of open files to what `sessions` at once can take. Throws Failure, with both
// numbers, when the system does not allow so many.
void ensure_descriptors(std::size_t sessions);

}  // namespace sluice::bench
