#pragma once

#include "config/config.h"
#include "config/reporter.h"
#include "config/yaml_tree.h"

namespace sluice::config {

// Fills `config` from the tree as far as it can, and reports unknown keys, wrong types, values out of range
// and missing keys. What the file leaves out keeps its default; lists stay as short as the file has them.
void read_tree(const Node& root, Config& config, Reporter& reporter);

}  // namespace sluice::config
