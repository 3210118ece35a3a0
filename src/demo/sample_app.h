#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace sluice::demo {

// One instance of the demo's sample application, on one compute host.
struct SampleAppPlan {
  std::string host;               // the compute host's name: what it tells the router (sluice.host)
  std::uint16_t port = 0;         // of 127.0.0.1, for HTTP
  std::uint16_t router_port = 0;  // of 127.0.0.1
  std::string user, password, database;
  // All hosts of a demo are this machine; these make them lie apart. Every request takes `way` longer, the
  // health page included, and every query `database_way`.
  std::chrono::milliseconds way{0}, database_way{0};
};

// A small web application that asks its database through the router, each query with the comment that
// sqlcommenter adds: the route, and the trace of the request. GET:
//   /item    one query
//   /feed    kFeedQueries queries, each waiting for the one before
//   /health  none
// 404 for other paths; 503 with the reason where the database does not answer; 406-431 as http::PageServer.
// Serves until SIGTERM or SIGINT. The exit code: 1 when the port cannot be had, said on standard error.
// Resources: at most kConnectionsMax connections to the router, opened when first needed; a request that
// finds none is answered with 503.
int run_sample_app(const SampleAppPlan& plan);

inline constexpr int kFeedQueries = 8;
inline constexpr std::size_t kConnectionsMax = 4;

}  // namespace sluice::demo
