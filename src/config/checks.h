#pragma once

#include "config/config.h"
#include "config/reporter.h"

// What no single value shows: settings that contradict each other or refer to nothing. Each looks at the
// completed configuration and reports under the keys that the user wrote.
namespace sluice::config {

void check_all(const Config&, Reporter&);
void check_pools(const Config&, Reporter&);           // classes, replicas, rules, hosts, databases, listeners
void check_authentication(const Config&, Reporter&);  // ways in, and the way on to the servers of each
bool slots_limited(const Config&);                    // each server has a limit on what is in use there
void check_tls(const Config&, Reporter&);
void check_limits(const Config&, Reporter&);     // numbers that make no sense together
void check_measuring(const Config&, Reporter&);  // round trips, and who is to use them
void check_cluster(const Config&, Reporter&);    // several primaries, Patroni, DNS

}  // namespace sluice::config
