#include "trace/route_name.h"

namespace sluice::trace {

[[gnu::noinline]] void RouteName::destroy(Shared* shared) noexcept {
  delete shared;
}

}  // namespace sluice::trace
