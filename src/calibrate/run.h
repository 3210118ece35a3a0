#pragma once

#include <chrono>
#include <cstddef>
#include <iosfwd>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/plan.h"
#include "config/placer_config.h"
#include "profile/contents.h"

namespace sluice::calibrate {

// What the command line asks for.
struct Options {
  std::size_t warm_ups = 20, samples = 500;
  std::vector<std::string> hosts;            // empty: all of the configuration
  std::map<std::string, std::string> paths;  // of patterns with parameters: what to ask for
  std::vector<std::string> merge;            // files of --sql-only
  std::string count_queries;                 // "host:port" of the router's admin: N_serial by counting there
  std::string output;                        // empty: the configuration's calibration_file
  std::string raw;                           // every sample goes there as CSV; empty: nowhere
  bool dry_run = false, force = false;
};

// Which pages of which hosts are asked for, and what is known of the routes beforehand: N_serial as
// configured or, where the configuration leaves it to the profile, as observed; sql(c) of the profile's
// matrix. Throws Failure for a pattern that nobody has said a path for, and for hosts and patterns that the
// configuration does not have.
Plan make_plan(const config::PlacerConfig&, const Options&, const profile::Profile*, profile::Moment now);

// Measures, judges, reports on `out` and writes. Throws Failure; nothing is written then.
void run(const std::shared_ptr<const config::PlacerConfig>&, const Options&, std::ostream& out);

// The part of a compute host: SELECT 1 from here on `database_url`, written to options.output.
void run_sql_only(const Options&, const std::string& database_url, std::ostream& out);

// The tables that are shown to people.
std::string report(const calibration::Calibration&);
std::string describe(const Plan&);

}  // namespace sluice::calibrate
