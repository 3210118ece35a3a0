#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include <asio/any_io_executor.hpp>
#include <asio/awaitable.hpp>
#include <asio/steady_timer.hpp>

#include "mirror/fetch.h"
#include "mirror/source.h"
#include "net/task_group.h"
#include "shm/profile_writer.h"

namespace sluice::mirror {

// Copies the profile of a router elsewhere into a local segment: GET /v1/profile on a timer, and a
// ProfileWriter.
//
// Staleness comes along: moments in the segment are those of the measuring, as far as the ages told allow.
// While the router does not answer, the heartbeat goes on (the mirror lives) and the contents grow old:
// contents_at stays. So a reader judges contents by contents_at, not by the heartbeat. Shape:  one fetch at a
// time, each bounded in time and size. Before the first good answer there is no file. Errors: open() says in
// `problem` why the segment cannot be written; afterwards failures are logged once per reason,
//         and told by status().
// Thread: that of the executor. open() once, then start() once, and after that stop() awaited before
// destruction.
class Mirror {
 public:
  struct Settings {
    Source from;
    shm::ProfileWriter::Settings to;  // its interval is the time between two fetches, too
    FetchLimits limits;
  };
  struct Status {
    std::uint64_t good = 0, failed = 0;
    std::string problem;                                          // of the last fetch; "" = it was good
    std::optional<std::chrono::steady_clock::time_point> last{};  // good one
  };

  Mirror(asio::any_io_executor executor, Settings settings);
  Mirror(const Mirror&) = delete;
  Mirror& operator=(const Mirror&) = delete;

  Result<void> open(std::string& problem);
  void start();
  asio::awaitable<void> stop();
  const Status& status() const noexcept { return status_; }

 private:
  asio::awaitable<void> run();
  asio::awaitable<std::string> copy();

  asio::any_io_executor executor_;
  Settings settings_;
  Status status_;
  std::optional<shm::ProfileWriter> writer_;
  net::TaskGroup tasks_;
};

}  // namespace sluice::mirror
