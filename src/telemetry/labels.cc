#include "telemetry/labels.h"

namespace sluice::telemetry {

SqlstateClass sqlstate_class(std::string_view sqlstate) noexcept {
  if (sqlstate.size() < 2) return SqlstateClass::Other;
  const std::string_view wanted = sqlstate.substr(0, 2);
  constexpr const auto& values = LabelTraits<SqlstateClass>::kValues;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i] == wanted) return static_cast<SqlstateClass>(i);
  return SqlstateClass::Other;
}

}  // namespace sluice::telemetry
