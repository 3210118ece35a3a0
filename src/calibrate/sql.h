#pragma once

#include <chrono>
#include <string>

#include <asio/awaitable.hpp>

#include "calibrate/procedure.h"
#include "pgclient/client.h"

namespace sluice::calibrate {

// "postgresql://user:password@host:port/database?sslmode=..." with anything but the host left out at will;
// percent escapes are decoded. Throws Failure for what is none, without repeating it: it may hold a password.
pgclient::ConnectParams parse_database_url(const std::string& url);

// How long SELECT 1 takes on one warm connection, the answer included. Throws Failure.
asio::awaitable<Series> measure_select_1(pgclient::ConnectParams params, std::string host,
                                         std::size_t warm_ups, std::size_t samples,
                                         std::chrono::milliseconds timeout, OnStep on_step);

}  // namespace sluice::calibrate
