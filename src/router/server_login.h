#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <asio/awaitable.hpp>

#include "protocol/error_response.h"
#include "protocol/server_login.h"
#include "router/proxy_preamble.h"
#include "router/server_connection.h"
#include "router/snapshot.h"

namespace sluice::router {

// What a server connection is opened for.
struct ServerRequest {
  ServerId server;
  std::vector<std::pair<std::string, std::string>> parameters;  // user, database and the rest, in order
  protocol::ServerCredentials credentials;
  std::optional<ClientPlace> place{};  // where some server is to be told; none: the connection is ours
};

// Why a server connection could not be had.
struct ServerFailure {
  enum class Kind {
    Unreachable,   // no TCP connection, no TLS, silence: the server is to be doubted
    Refused,       // the server answered with an error of its own, in `error`
    NotReady,      // the server answered that it starts up, shuts down or has no room (57P03, 57P01, 53300)
    Unsupported,   // it cannot be dealt with, said in `error`
    Unanswerable,  // it asked for a proof that these credentials cannot give, said in `error`
  };
  Kind kind;
  protocol::ErrorFields error;  // what the client may be told
  std::string reason;           // for the log
};

// Opens and logs in one connection, under `server_connect_timeout` as a whole, start-up included, and before
// `give_up_at`.
// Another TLS mode is tried on a connection of its own where sslmode allows it (`allow`, `prefer`).
asio::awaitable<std::variant<ServerConnection, ServerFailure>> open_server_connection(
    SnapshotPtr snapshot, ServerRequest request, std::chrono::steady_clock::time_point give_up_at);

}  // namespace sluice::router
