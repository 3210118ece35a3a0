#pragma once

#include "config/config.h"
#include "config/reporter.h"

namespace sluice::config {

// Fills in what the file leaves to us: names of servers and listeners, the usual classes with targets that
// suit the number of replicas, the database *, the hba rule of auth_type, default_class, and paths from the
// file's folder.
void complete(Config& config, const Reporter& reporter);

// The same for options alone, changed in a configuration that was complete: `changed` is `before` with other
// options.
void complete_options(const Config& before, Config& changed);

// Reads auth_file and the password files into the configuration, and looks whether the TLS files can be read.
void read_secret_files(Config& config, Reporter& reporter);

}  // namespace sluice::config
