#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/bytes.h"
#include "net/stream.h"
#include "router/ids.h"
#include "router/parameter_set.h"

namespace sluice::router {

// A logged-in connection of ours to PostgreSQL.
struct ServerConnection {
  net::Stream stream;
  ServerId server;
  std::string pool_key;  // see server_pool.h; empty: never to be reused
  std::int32_t process_id = 0;
  Bytes secret;  // empty: the server gave no key, and its queries cannot be cancelled
  std::shared_ptr<const ParameterSet> parameters;
  std::string user;  // that it logged in as, and the database there
  std::string database;
  std::chrono::steady_clock::time_point opened_at;
  Bytes notices{};  // NoticeResponses of its login, for the session that it was opened for
};

}  // namespace sluice::router
