#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What a profile says, as values: the router fills one in, a writer puts it into shared memory, readers get
// one back. The layout in memory is include/sluice/profile.h's business.
namespace sluice::profile {

using Nanos = std::chrono::nanoseconds;
// Moments are of the machine's monotonic clock (CLOCK_MONOTONIC), which all its processes share. A mirror
// turns the ages it was told into moments of its own machine. The zero moment means never.
using Moment = std::chrono::steady_clock::time_point;

// A compute host, as the router knows it.
struct Host {
  std::string name;
  // Client leg, of the kernel's TCP_INFO over the host's client sockets: estimate of a round trip, least one,
  // and mean deviation.
  Nanos client_leg{}, client_leg_min{}, client_leg_deviation{};
  std::uint64_t samples = 0;  // sockets read so far, 0 = never measured
  std::uint32_t sessions = 0;
  Moment measured_at{};

  // Of the calibration: medians of the path from the placer to the host and back, as a request for its health
  // page and as a TCP connect. samples 0: not calibrated.
  Nanos path{}, connect{};
  std::uint32_t path_samples = 0;
  Moment calibrated_at{};

  friend bool operator==(const Host&, const Host&) = default;
};

enum class ServerRole : std::uint8_t { Replica, Primary };

struct Server {
  std::string name;
  ServerRole role = ServerRole::Replica;
  bool up = false;
  Nanos median{}, minimum{}, ewma{};  // SELECT 1 over a warm connection of the router: the server leg
  std::uint64_t samples = 0;          // answered probes so far
  Moment measured_at{};

  friend bool operator==(const Server&, const Server&) = default;
};

// What one SELECT 1 costs from a host, through the router, on a server: client leg plus server leg, or what a
// calibration measured on the host itself.
struct Rtt {
  enum class Source : std::uint8_t { None, Measured, Calibrated };
  Nanos estimate{};
  std::uint64_t samples = 0;  // the fewer of the two legs'
  Source source = Source::None;
  Moment measured_at{};  // the older of the two legs'

  friend bool operator==(const Rtt&, const Rtt&) = default;
};

struct Route {
  std::string name;            // "/feed", or "controller#action"
  std::string priority_class;  // of most of its calls; "" when unknown
  std::uint64_t requests = 0;  // traces closed
  double n_serial_mean = 0, n_serial_median = 0, n_serial_p90 = 0;
  double untraced_share = 0;  // of its calls, in [0, 1]
  Moment last_seen{};
  // That a calibration went by: counted (by counter difference, for applications without comments),
  // configured, or observed at that time; negative = not calibrated.
  double n_serial_calibrated = -1;

  friend bool operator==(const Route&, const Route&) = default;
};

// What a route costs on a host beyond path and database: median(route) - median(health) - N_serial x sql. May
// be negative.
struct Residual {
  Nanos residual{};
  std::uint32_t samples = 0;  // 0: not calibrated
  Moment measured_at{};

  friend bool operator==(const Residual&, const Residual&) = default;
};

struct Contents {
  std::vector<Host> hosts;
  std::vector<Server> servers;
  std::vector<std::string> classes;  // highest priority first
  std::vector<Route> routes;

  // Row-major: rtt[host * servers.size() + server], residuals[host * routes.size() + route], and
  // shares[class * servers.size() + server], the share of the class's sessions that the server has now, each
  // class's summing to 1, or all 0 for a class without sessions.
  std::vector<Rtt> rtt;
  std::vector<Residual> residuals;
  std::vector<double> shares;

  friend bool operator==(const Contents&, const Contents&) = default;
};

// Makes rtt, residuals and shares as large as the lists say, with nothing measured.
void fit_matrices(Contents&);
// False where a matrix has not the size that the lists say: nobody publishes or uses such contents.
bool is_consistent(const Contents&) noexcept;

// Index by name; nullopt when there is none. O(n).
std::optional<std::size_t> find_host(const Contents&, std::string_view name) noexcept;
std::optional<std::size_t> find_server(const Contents&, std::string_view name) noexcept;
std::optional<std::size_t> find_class(const Contents&, std::string_view name) noexcept;
std::optional<std::size_t> find_route(const Contents&, std::string_view name) noexcept;

// Who wrote a profile, and when.
struct Publication {
  std::uint64_t generation = 0;    // another one after each restart of the writer
  std::uint64_t publications = 0;  // of this generation; 0 = nothing written yet
  std::int64_t writer_pid = 0;
  Moment started_at{};
  Moment heartbeat{};  // the writer lived; written with each publication, also where nothing has changed
  // When the values were gathered where they were measured. A router's own: the heartbeat. A mirror's: the
  // last answer of the router that it copies, less what the values had aged there.
  Moment contents_at{};
  Nanos interval{};     // between two heartbeats, as the writer means it
  bool closed = false;  // the writer has said good-bye

  friend bool operator==(const Publication&, const Publication&) = default;
};

enum class WriterState : std::uint8_t { Alive, Closed, Dead };
// Dead: no heartbeat for four intervals (at least 2 s), or one from the future, which is of an earlier boot.
WriterState writer_state(const Publication&, Moment now) noexcept;
std::string_view writer_state_name(WriterState) noexcept;  // "alive", "closed", "dead"

// What a reader gets.
struct Profile {
  Publication publication;
  Contents contents;
};

}  // namespace sluice::profile
