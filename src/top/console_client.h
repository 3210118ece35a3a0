#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "top/sample.h"

struct pg_conn;

namespace sluice::top {

// A connection to the router's console over libpq. Every wait is the caller's: poll descriptor() for reading,
// then call receive().
class ConsoleClient {
 public:
  // `conninfo` is a connection string or URI of libpq's; what it does not say is as libpq's environment says,
  // else 127.0.0.1, port 6432, database sluice.
  explicit ConsoleClient(std::string conninfo);
  ~ConsoleClient();
  ConsoleClient(const ConsoleClient&) = delete;
  ConsoleClient& operator=(const ConsoleClient&) = delete;

  // Connects, for at most a few seconds. False: problem() says why.
  bool connect();
  bool connected() const noexcept { return connection_ != nullptr; }
  void disconnect();
  int descriptor() const;
  std::string where() const;  // "127.0.0.1:6432"

  // Sends the questions. False: the connection is over.
  bool ask();
  // Takes what has come. A sample once the answer is whole.
  std::optional<Sample> receive();
  const std::string& problem() const noexcept { return problem_; }

 private:
  struct Closer {
    void operator()(pg_conn* connection) const;
  };
  void fail(std::string why);

  std::string conninfo_;
  std::unique_ptr<pg_conn, Closer> connection_;
  std::vector<Table> answers_;
  std::string problem_;
};

}  // namespace sluice::top
