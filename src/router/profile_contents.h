#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "profile/contents.h"
#include "router/client_legs.h"

namespace sluice::router {

class Router;

// What the router knows now, as it publishes it: hosts of the configuration with their client legs, servers
// with their server legs (the primary first), the matrix of both, classes and how their sessions are spread,
// and routes.
// Any thread.
profile::Contents profile_contents(const Router& router);
// The same with who tells it, as a reader of the segment would see it: for GET /v1/profile.
profile::Profile live_profile(const Router& router);

// Fills contents.rtt from the legs in hosts and servers, where both were measured.
void fill_round_trips(profile::Contents& contents);

}  // namespace sluice::router
