#include "config/field_rows.h"
#include "config/placer_config.h"

namespace sluice::config {

template <>
std::span<const Field<PlacerOptions>> fields_of<PlacerOptions>() {
  using Record = PlacerOptions;
  static const std::vector<Field<Record>> table = [] {
    std::vector<Field<Record>> fields;
    std::string_view group;
#define GROUP SLUICE_OPTION_GROUP
#define X SLUICE_OPTION_ROW
#include "config/placer_options.def"
#undef X
#undef GROUP
    return fields;
  }();
  return table;
}

#define F SLUICE_RECORD_ROW
template <>
std::span<const Field<ComputeHost>> fields_of<ComputeHost>() {
  using Record = ComputeHost;
  static const Field<Record> table[] = {
#include "config/tables/compute_host.def"
  };
  return table;
}
template <>
std::span<const Field<PlacerRoute>> fields_of<PlacerRoute>() {
  using Record = PlacerRoute;
  static const Field<Record> table[] = {
#include "config/tables/placer_route.def"
  };
  return table;
}
template <>
std::span<const Field<Dependency>> fields_of<Dependency>() {
  using Record = Dependency;
  static const Field<Record> table[] = {
#include "config/tables/dependency.def"
  };
  return table;
}
#undef F

std::span<const ListKey> placer_list_keys() {
  static constexpr ListKey kKeys[] = {
      {"compute_hosts", Apply::OnReload, "Where the application runs. Ties go to the earlier."},
      {"routes", Apply::OnReload,
       "What is known of the application's pages. Of several patterns that match, the most specific counts, "
       "whatever "
       "their order. Without a match: user_first."},
      {"dependencies", Apply::OnReload,
       "What the application waits for besides PostgreSQL: Redis, another service."},
  };
  return kKeys;
}

}  // namespace sluice::config
