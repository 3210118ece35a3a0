#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <asio/awaitable.hpp>

#include "calibrate/http_client.h"

namespace sluice::calibrate {

// The router's count of completed queries, all databases together, in the text of its /metrics; nullopt when
// it is not there.
std::optional<double> query_count(std::string_view metrics);

// N_serial of a page by the difference of the router's query counter over requests sent alone, one after the
// other: for applications whose queries carry no comment. Calls that run side by side are counted each, so it
// is an upper bound. Failure where the difference is no whole number per request: somebody else uses the
// router then.
asio::awaitable<double> count_n_serial(HttpClient& application, std::string path, HttpClient& router_admin,
                                       std::size_t requests);

}  // namespace sluice::calibrate
