#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "config/enums.h"
#include "config/fields.h"
#include "config/kinds.h"
#include "config/problem.h"

// The configuration of the placer: a file of its own, by the same rules as the router's.
namespace sluice::config {

// One member per row of placer_options.def.
struct PlacerOptions {
#define GROUP(title)
#define X(kind_, name, default_, min, max, apply, secrecy, help) \
  kind::kind_::Value name = kind::kind_::initial(default_);
#include "config/placer_options.def"
#undef X
#undef GROUP
};

// One struct per table, one member per row.
#define F(kind_, member, key, default_, min, max, presence, help) \
  kind::kind_::Value member = kind::kind_::initial(default_);
struct ComputeHost {
#include "config/tables/compute_host.def"
};
struct PlacerRoute {
#include "config/tables/placer_route.def"
};
struct Dependency {
#include "config/tables/dependency.def"
};
#undef F

// A configuration that passed every check. Immutable once loaded; a reload makes a new one.
struct PlacerConfig {
  std::string path;
  PlacerOptions options;
  std::vector<ComputeHost> compute_hosts;  // at least one, names unique; order decides ties
  std::vector<PlacerRoute> routes;         // profile_route is never empty
  std::vector<Dependency> dependencies;
};

inline constexpr std::size_t kComputeHostsMax = 64;
inline constexpr std::size_t kPlacerRoutesMax = 10'000;

// As config::load does for the router.
struct PlacerLoadOutcome {
  std::shared_ptr<const PlacerConfig> config;  // null if any problem is an error
  Problems problems;                           // in the order of their lines
};
PlacerLoadOutcome load_placer(const std::string& path);
PlacerLoadOutcome load_placer_text(std::string_view yaml, const std::string& path);

// Whether the file is the placer's: it has the key compute_hosts.
bool is_placer_file(const std::string& path);

template <>
std::span<const Field<PlacerOptions>> fields_of<PlacerOptions>();
template <>
std::span<const Field<ComputeHost>> fields_of<ComputeHost>();
template <>
std::span<const Field<PlacerRoute>> fields_of<PlacerRoute>();
template <>
std::span<const Field<Dependency>> fields_of<Dependency>();
std::span<const ListKey> placer_list_keys();

// Options that differ and that a reload cannot change, "key: old would become new". Not empty: the reload is
// refused.
std::vector<std::string> placer_needing_restart(const PlacerConfig& from, const PlacerConfig& to);

// The values that hold, as a configuration file that means the same; the report of `sluice check`.
std::string effective_values(const PlacerConfig&);
std::string check_report(const PlacerLoadOutcome&, const std::string& path);
// conf/placer.yaml and docs/reference/placer-configuration.md
std::string placer_sample_file();
std::string placer_reference_page();

}  // namespace sluice::config
