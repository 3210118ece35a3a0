#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "http/page.h"
#include "placer/planner.h"
#include "placer/prober.h"
#include "placer/request_history.h"
#include "placer/snapshot.h"

// The pages of the placer's admin port, made from values. Pure.
namespace sluice::placer {

// All that they show.
struct AdminFacts {
  ViewPtr view;
  std::vector<HostReport> hosts;  // as Snapshot::hosts
  PolicyState policy;
  std::string profile;  // in a sentence
  bool shutting_down = false;
  std::chrono::steady_clock::time_point now{};
};

http::Page index_page();
http::Page error_page(int status, std::string_view sentence = {});
// 200 while the process serves, with what the policy comes down to and why.
http::Page health_page(const AdminFacts&);
// 200 while a host is up and new requests are taken, else 503 and why not.
http::Page ready_page(const AdminFacts&);
// GET /v1/hosts: {"hosts": [...]}
http::Page hosts_page(const AdminFacts&);
// GET /v1/overview: all that the placer's page shows.
http::Page overview_page(const AdminFacts&, const RequestHistory& history);
// The page and its parts, or why there is none.
bool has_dashboard() noexcept;  // else the program was built without it
http::Page dashboard_page(std::string_view path, std::string_view accept_encoding);
// GET /v1/explain?route=/feed[&method=GET]: each host's every term. `route` is a path, or a configured
// pattern.
http::Page explain_page(const AdminFacts&, std::string_view method, std::string_view route);

// docs/reference/placer-http.md, whole.
std::string placer_http_reference();

}  // namespace sluice::placer
