#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <asio/any_io_executor.hpp>
#include <asio/awaitable.hpp>

#include "pgclient/cancel.h"
#include "pgclient/pg_result.h"

namespace sluice::pgclient {

struct ConnectParams {
  std::string host;  // name, numeric address, or a directory of a Unix socket ('/' first)
  std::uint16_t port = 5432;
  std::string user, database, password;
  std::string sslmode = "prefer";  // libpq's words
  std::string ssl_ca_file, ssl_cert_file, ssl_key_file;
  std::string application_name = "sluice";
  std::string
      hostaddr{};  // numeric address to connect to; `host` is then the name that TLS verifies. "": host
  // Numeric addresses to try in this order instead of looking `host` up, which is then the name that TLS
  // verifies. None: hostaddr, or host.
  std::vector<std::string> addresses{};
  std::string options{};  // as libpq takes them: "-c name=value", backslash before a blank of a value

  friend bool operator==(const ConnectParams&, const ConnectParams&) = default;
};

// Count: rows are read and thrown away, and there may be any number of them.
enum class Keep { Rows, Count };

struct Limits {
  std::size_t rows_max = 10'000;
  std::size_t bytes_max = 1 << 20;  // of all values together
  Keep keep = Keep::Rows;
};

// Values as text, std::nullopt for NULL.
struct Rows {
  std::vector<std::string> columns;
  std::vector<std::vector<std::optional<std::string>>> rows;
  std::size_t row_count = 0;  // also of rows that were not kept
};

// One statement, with text parameters $1, $2, ...
struct Statement {
  std::string sql;
  std::vector<std::optional<std::string>> params;
  Limits limits;
};

// One connection for our own queries, over libpq without blocking: names are looked up beforehand, the socket
// is awaited by Asio. Nothing of libpq's environment (PG* variables, password file, service file) is used
// for what ConnectParams says. Lives on one executor, one operation at a time; a second is our own fault.
// Destroying it closes the connection.
class Client {
 public:
  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;
  ~Client();

  // `timeout` covers the name lookup and all addresses, which share what is left of it.
  static asio::awaitable<PgResult<Client>> connect(ConnectParams params, std::chrono::milliseconds timeout);

  // One statement with text parameters $1, $2, ... After a timeout, a cancellation, a lost connection or a
  // result above the limits the client is broken: usable() is false and every further query fails.
  asio::awaitable<PgResult<Rows>> query(std::string sql, std::vector<std::optional<std::string>> params,
                                        std::chrono::milliseconds timeout, Limits limits = {});

  // Statements one behind the other in a pipeline with a single Sync: one round trip and, as long as none of
  // them says otherwise, one transaction. What they gave, in their order, or the first failure; what follows
  // a failed statement is not run. At least one statement; otherwise as query().
  asio::awaitable<PgResult<std::vector<Rows>>> pipeline(std::vector<Statement> statements,
                                                        std::chrono::milliseconds timeout);

  // Any number of statements, separated by semicolons, as one simple query: one transaction unless they say
  // otherwise. Rows are thrown away. Otherwise as query(); COPY is refused and breaks the client.
  asio::awaitable<PgResult<Rows>> script(std::string sql, std::chrono::milliseconds timeout);

  // Asks the server to give up what this client asks of it. The request outlives the client.
  Cancel cancel() const;
  // For a client that is broken by a timeout or a cancellation: throws away what is still answered, until
  // nothing more is or the connection has ended. True then: the server no longer works for this client. False
  // after `timeout`, when cancelled, or inside a COPY.
  asio::awaitable<bool> settle(std::chrono::milliseconds timeout);

  // The server's, numeric; "" over a Unix socket.
  std::string address() const;
  bool usable() const noexcept;
  // True when an idle connection has something to read: it was closed, or speaks out of turn.
  bool has_pending_input() const;

 private:
  struct Impl;
  explicit Client(std::unique_ptr<Impl> impl) noexcept;
  template <class T>
  asio::awaitable<PgResult<T>> guarded(asio::awaitable<PgResult<T>> work);
  std::unique_ptr<Impl> impl_;
};

}  // namespace sluice::pgclient
