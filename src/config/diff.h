#pragma once

#include <string>
#include <vector>

#include "config/config.h"
#include "config/fields.h"

namespace sluice::config {

// A key whose value differs between two configurations; for lists the values are the numbers of records. What
// stands in auth_file and the password files is compared too, under the keys that name them. Never holds a
// secret.
struct Change {
  std::string key;
  std::string from, to;
  Apply apply = Apply::OnReload;
};
std::vector<Change> diff(const Config& from, const Config& to);

// Keys that a reload cannot change. Not empty: the reload is refused as a whole.
std::vector<Change> needing_restart(const std::vector<Change>&);

}  // namespace sluice::config
