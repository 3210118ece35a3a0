#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include <asio/awaitable.hpp>

#include "bench/abandoned.h"
#include "bench/arrival_plan.h"
#include "bench/clock.h"
#include "bench/records.h"
#include "bench/run_options.h"
#include "pgclient/client.h"

namespace sluice::bench {

// Where a run stands, for its sessions.
struct RunClock {
  Clock::time_point began;

  double now() const { return Seconds(Clock::now() - began).count(); }
  Clock::time_point at(double moment) const { return began + to_clock(moment); }
};

// Where records go.
struct Recorder {
  std::function<void(const QueryRecord&)> query;
  std::function<void(const SessionRecord&)> session;
};

// One terminal: a connection on which queries follow each other, with a pause between, until its lifetime is
// over or the run's duration is. Nothing begins after either; what has begun is waited for, and a pause lasts
// until then at most. A query that failed is followed by a pause of at least a tenth of a second. Each query
// is measured from the moment at which it should have begun, which is the end of the one before and the
// pause, so that a late clock of ours is no service of the server's. What
// was given up after the query timeout, or when cancelled, is cancelled at the server too.
class TerminalSession {
 public:
  // All outlive it. One thread.
  TerminalSession(const RunOptions& options, const RunClock& clock, const Recorder& recorder,
                  Abandoned& abandoned, std::size_t index, const TerminalPlan& plan);

  // Ends by itself; when cancelled, with "cut" for what had not ended. The session's record comes last,
  // always.
  asio::awaitable<void> run();

 private:
  using Client = pgclient::Client;

  pgclient::ConnectParams connect_params() const;
  asio::awaitable<std::optional<Client>> connect();
  asio::awaitable<void> converse(Client client);
  // False when the connection is of no more use.
  asio::awaitable<bool> ask(Client& client, const QueryStream::Next& next, double intended);
  asio::awaitable<void> sleep_until(double moment);
  bool over(double moment) const;

  const RunOptions& options_;
  const RunClock& clock_;
  const Recorder& recorder_;
  Abandoned& abandoned_;
  const TerminalPlan& plan_;
  SessionRecord record_;
  double leaves_ = 0;    // the end of its lifetime
  double last_end_ = 0;  // of the last query
  bool last_failed_ = false;
  bool cut_ = false;  // the run ended first
};

// A record's word for an error.
std::string error_word(const pgclient::PgError& error);

}  // namespace sluice::bench
