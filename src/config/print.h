#pragma once

#include <string>
#include <vector>

#include "config/config.h"

// Everything that is written from the tables: nobody repeats a default in prose.
namespace sluice::config {

// A row of SHOW CONFIG, with PgBouncer's columns ("fallback" is the default): no quotes, times and sizes as
// numbers in the option's unit. Secrets are "***".
struct ShownOption {
  std::string key, value, fallback;
  bool changeable = false;  // by a reload
};
std::vector<ShownOption> show_config(const Config&);

// The values that hold, lists included, as a configuration file that means the same.
std::string effective_values(const Config&);

// For `sluice check`: every problem on a line of its own, then a line of summary and, where nothing is wrong,
// the effective values.
std::string check_report(const LoadOutcome&, const std::string& path);

// conf/sluice.yaml: every key with its help, kind, range and default; what a first configuration needs is
// filled in, the rest commented out.
std::string sample_file();
// docs/reference/configuration.md
std::string reference_page();

}  // namespace sluice::config
