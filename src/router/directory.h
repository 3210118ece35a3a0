#pragma once

#include <optional>
#include <string>
#include <vector>

#include <asio/any_io_executor.hpp>
#include <asio/awaitable.hpp>

#include "base/result.h"
#include "protocol/secret.h"

namespace sluice::router {

// What a server knows about users: their secrets (auth_query) and their roles. Looked up on the control
// thread, where the connections and the caches live; any thread may ask.
class Directory {
 public:
  virtual ~Directory() = default;
  // UnknownUser for a user that the server does not know or that may not log in; an error when it cannot be
  // asked.
  virtual asio::awaitable<Result<protocol::Secret>> secret_of(std::string user) = 0;
  // Roles that the user is a member of, directly or not.
  virtual asio::awaitable<Result<std::vector<std::string>>> roles_of(std::string user) = 0;
  // The secret did not log in to a server: the next question goes to the server again.
  virtual void forget(std::string user) = 0;
};

}  // namespace sluice::router
