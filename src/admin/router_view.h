#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

// What console and HTTP admin see of the router, and what they may ask of it. The router implements
// RouterView; admin knows nothing else about it. Rows are plain values: copies, so that nobody holds a lock
// while a client reads slowly.
namespace sluice::admin {

using WallTime = std::chrono::system_clock::time_point;
using Micros = std::chrono::microseconds;
// Number of sessions, or of anything else, per priority class: (class name, count), highest class first.
using ClassCounts = std::vector<std::pair<std::string, std::int64_t>>;

// Parts of a Snapshot. A view asks for the one that it shows: some parts visit every thread.
enum class Part {
  Replicas,
  Classes,
  Budgets,
  Sizes,
  Cutoffs,
  Clients,
  Servers,
  Sockets,  // clients and servers
  Listeners,
  Memory,
  Pools,
  Hosts,
  Rtt,
  Routes,
  Profile,
  Decisions,
  RoleChanges,
  Stats,
  Lists,
  Databases,
  Users,
  Config,
  State,
  Cluster,
  // All that changes from second to second, without a visit to any thread: replicas (their server connections
  // left out), classes, rejections, role changes, warnings, the newest decisions and role changes, state.
  Overview,
};

struct Quantiles {  // of times; empty while there is no sample
  std::optional<Micros> median, p95, p99;
};

// Of the last minute or so: how many there were, and their times.
struct RecentTimes {
  std::int64_t count = 0;
  Quantiles times;
};

struct ReplicaRow {
  std::string name, host;
  std::int64_t port = 0;
  std::string role;  // "replica" or "primary"
  std::string pool;  // class name or "mixed"; empty for the primary
  bool borrowed = false;
  bool up = false;
  bool draining = false;
  std::int64_t sessions = 0;                          // held now, of classes that a reload removed too
  ClassCounts loads;                                  // the same per class of the configuration
  std::int64_t servers_active = 0;                    // server connections that serve a session
  std::int64_t servers_idle = 0;                      // kept for a next session
  std::optional<bool> in_recovery;                    // empty before the first answered probe
  std::optional<std::chrono::milliseconds> lag;       // replay lag
  std::optional<std::int64_t> lag_bytes;              //
  std::optional<Micros> probe_last, probe_median;     // SELECT 1 over a warm connection
  std::optional<std::chrono::milliseconds> age;       // since the last answered probe
  std::int64_t probe_failures = 0;                    // in a row
  std::int64_t sessions_total = 0, errors_total = 0;  // sessions assigned; failed connects and lost servers
  std::string last_error;                             // one sentence, never a secret
  std::int64_t weight = 1;
  std::optional<std::int64_t> timeline;
  std::string source = "file";  // who told of it: "file", "dns" or "patroni"
  std::string member, tags;     // Patroni's words for its role and state, and its tags
};

// One fact of where the servers are, or one who tells such facts.
struct ClusterRow {
  std::string source, name;
  bool up = false;
  std::string state, problem;
  std::optional<std::int64_t> timeline, lag_bytes;
  std::string tags;
  std::optional<std::chrono::milliseconds> age;
  std::int64_t good = 0, failed = 0;
};

struct NameRow {
  std::string name;
  std::int64_t ttl = 0;  // seconds until it is looked up again
  std::string addresses;
};

struct ClassRow {
  std::string name;
  std::int64_t priority = 0;  // 0 is the highest
  std::int64_t saturation = 0;
  std::string return_ratio;  // exact decimal, as configured
  std::int64_t floor = 0, target = 0, max_sessions = 0;
  std::string weight;         // exact decimal: configured, or found by weight_target
  std::int64_t replicas = 0;  // live replicas in its pool now
  std::int64_t borrowed = 0;  // of these, held by borrowing
  std::int64_t sessions = 0, waiting = 0;
  ClassCounts
      outcomes;  // decisions by outcome name ("own", "borrowed_mixed", ...), all outcomes, fixed order
  Quantiles response;
  // Of Part::Overview alone.
  std::int64_t opened = 0;  // sessions given a replica, since the start
  Micros longest_wait{};    // of those who wait now
  RecentTimes recent_response, recent_wait;
};

// Clients turned away since the start.
struct RejectionRow {
  std::string reason;
  std::int64_t count = 0;
};

// What `sluice check` says of the configuration in use.
struct WarningRow {
  std::string file;
  std::int64_t line = 0;  // 0: the file as a whole
  std::string key, message, hint;
};

struct BudgetRow {
  std::string name, mode;
  std::string active_share, busy_share;  // exact decimals, as configured
  std::int64_t active = 0, waiting = 0;
  double busy = 0;  // slots on average
  std::int64_t refused = 0, would_be_refused = 0;
};

// What is known of the sizes of one kind of work.
struct SizeRow {
  std::string user, database;
  std::string application_name, route;  // a route in place of the application, where the statement names one
  std::string fingerprint;              // of the statement, hexadecimal; empty for whole sessions
  std::string statement;                // without literals; empty likewise
  std::int64_t count = 0;
  Micros mean{}, median{}, p95{}, p99{};         // the newest counting most
  std::optional<std::chrono::milliseconds> age;  // since it was last seen
};

// The sizes that a replica takes of a pool's, or a pool that does not divide its sizes yet.
struct CutoffRow {
  std::string pool, order, state;
  std::string replica;             // empty while too little is known
  std::optional<double> from, to;  // seconds; no end: all that is larger
  std::optional<double> job_share, load_share;
  std::int64_t sizes = 0;  // that have arrived
  double utilization = 0;  // of the pool's slots, as arrivals find it
};

// A client, or a server connection. `id` is unique among clients, or among servers, while the router runs;
// never 0.
struct ConnectionRow {
  std::uint64_t id = 0;
  std::string user, database;
  bool replication = false;
  std::string
      state;  // PgBouncer's words: clients "active", "waiting"; servers "active", "idle", "login", ...
  std::string addr;
  std::int64_t port = 0;
  std::string local_addr;
  std::int64_t local_port = 0;
  WallTime connect_time{}, request_time{};  // request_time: when the current session or query began
  Micros wait{};                            // how long it has been waiting for a server
  bool close_needed = false;
  bool busy = false;             // a transaction or a message is under way, or it waits for a server
  std::int64_t fd = -1;          // its socket; -1 when it has none
  std::uint64_t link = 0;        // id of the other side, 0 when there is none
  std::int64_t remote_pid = 0;   // server: its backend's process id; client over a Unix socket: its own
  std::string tls;               // "TLSv1.3/TLS_AES_256_GCM_SHA384", empty without TLS
  std::string application_name;  //
  std::int64_t prepared_statements = 0;
  std::string priority_class, host, replica;
  std::string pool_mode = "session";
  std::string pinned;         // why it stays on its server in transaction mode
  std::int64_t channels = 0;  // that it listens to, in transaction mode, without a server of its own
};

// A pool in PgBouncer's sense: the sessions and server connections of one (database, user).
struct PoolRow {
  std::string database, user;
  std::int64_t cl_active = 0, cl_waiting = 0, cl_active_cancel_req = 0, cl_waiting_cancel_req = 0;
  std::int64_t sv_active = 0, sv_active_cancel = 0, sv_being_canceled = 0, sv_idle = 0, sv_used = 0,
               sv_tested = 0, sv_login = 0;
  Micros maxwait{};  // age of the oldest client still waiting
  std::string pool_mode = "session";
};

// A server connection that listens on behalf of clients in transaction mode.
struct ListenerRow {
  std::string database, encoding, user;  // encoding: empty where it is the server's
  std::int64_t remote_pid = 0;           // process id of the server's backend; 0: not connected now
  std::int64_t channels = 0;
  std::int64_t notifications = 0;  // received
  std::int64_t reconnects = 0;
};

// Things of one kind that the process keeps in memory.
struct MemoryRow {
  std::string name;
  std::int64_t size = 0;  // bytes of one
  std::int64_t used = 0;  // how many are in use
  std::int64_t free = 0;  // how many are kept for later
};

struct HostRow {
  std::string name, networks;  // networks as configured, comma separated
  std::int64_t sessions = 0;
  std::optional<Micros> rtt, rtt_min;            // client leg, from the kernel's TCP_INFO
  std::optional<Micros> rtt_deviation;           //
  std::int64_t rtt_samples = 0;                  // sockets read so far
  std::optional<std::chrono::milliseconds> age;  // since it was measured
  std::int64_t calls = 0, errors = 0;            // queries of its sessions, since the start
  Quantiles response;                            // of these
};

// What one SELECT 1 costs from a host on a server.
struct RttRow {
  std::string host, server;
  std::optional<Micros> rtt;                     // of the legs, or of the calibration; empty: unknown
  std::optional<Micros> client_leg, server_leg;  // empty: not measured
  std::string source;                            // "measured", "calibrated", ""
  std::optional<std::chrono::milliseconds> age;  // of the older leg
  std::int64_t samples = 0;                      // of the leg with fewer
};

struct RouteRow {
  std::string name;
  std::string priority_class;  // of most of its calls
  std::string host;            // compute host of most of its calls; empty: not known
  std::int64_t requests = 0;   // seen to their end
  std::optional<double> n_serial_mean, n_serial_median, n_serial_p90;
  double untraced_share = 0;  // of its calls, in [0, 1]
  bool usable = false;        // whether N_serial is to be relied on
  std::int64_t calls = 0, errors = 0;
  std::optional<Micros> response_median, response_p95;  // of calls
  std::chrono::milliseconds age{};                      // since it was last seen
};

struct RoleChangeRow {
  std::string replica, from, to, kind;  // kind: "borrow" or "return"
};

// One of the last hour's.
struct RoleChangeEvent {
  std::uint64_t number = 0;  // counts from 1
  WallTime time{};
  std::string priority_class;  // of the session that was assigned then
  RoleChangeRow change;
};

struct DecisionRow {
  std::uint64_t number = 0;  // counts from 1; the oldest row of a snapshot comes first
  WallTime time{};
  std::uint64_t client = 0;  // id as in SHOW CLIENTS
  std::string user, database, priority_class, host;
  std::optional<std::string> replica;  // none when refused
  std::string outcome;                 // outcome_name(): "own", "borrowed_mixed", ...
  std::string reason;                  // the same in a sentence, with what the policy saw
  Micros wait{};
  std::vector<RoleChangeRow> changes;
};

// PgBouncer's counters; as totals since the start, or as averages (see average_between).
struct StatsCounters {
  std::int64_t server_assignment_count = 0, xact_count = 0, query_count = 0;
  std::int64_t bytes_received = 0, bytes_sent = 0;
  std::int64_t xact_time_us = 0, query_time_us = 0, wait_time_us = 0;
  std::int64_t client_parse_count = 0, server_parse_count = 0, bind_count = 0;
  std::int64_t client_login_count = 0;
};

struct StatsRow {
  std::string database;
  StatsCounters total, average;
};

// PgBouncer's averages over a period: counts and bytes per second; transaction and query time per transaction
// and query, waiting time per second, in microseconds. All zero for a period of zero or where a counter went
// backwards.
StatsCounters average_between(const StatsCounters& before, const StatsCounters& now, Micros period);

struct ListsRow {
  std::int64_t databases = 0, users = 0, pools = 0;
  std::int64_t used_clients = 0;   // logged in
  std::int64_t login_clients = 0;  // not yet
  std::int64_t free_servers = 0, used_servers = 0;
  std::int64_t replicas = 0, replicas_up = 0, classes = 0, hosts = 0;
  std::int64_t names = 0;  // that are looked up
};

struct DatabaseRow {
  std::string name, host;
  std::int64_t port = 0;
  std::string database;  // its name on the server
  std::string target;    // "replicas" or "primary"
  std::string pool_mode = "session";
  std::int64_t max_connections = 0;  // 0: no limit
  std::int64_t current_connections = 0;
  std::int64_t max_client_connections = 0;  // 0: no limit
  std::int64_t current_client_connections = 0;
  bool paused = false, disabled = false;
};

struct UserRow {
  std::string name;
  std::int64_t max_connections = 0;  // 0: no limit
  std::int64_t current_connections = 0;
  std::int64_t max_client_connections = 0;  // 0: no limit
  std::int64_t current_client_connections = 0;
};

struct ConfigRow {
  std::string key, value, default_value;  // secrets redacted by whoever fills this in
  bool changeable = false;                // by reload
};

struct StateRow {
  bool ready = false;          // takes new sessions: some replica is live and no shutdown has begun
  std::string reason;          // why it is not ready; empty when ready
  bool shutting_down = false;  //
  bool paused = false;         // all databases, by PAUSE or KILL without a name
  WallTime started{}, config_loaded{};
};

// Of an overview: decisions, and role changes.
inline constexpr std::size_t kOverviewRows = 50;

// What gather() fills in; parts that were not asked for may stay empty.
struct Snapshot {
  std::vector<ReplicaRow> replicas;
  std::vector<ClassRow> classes;
  std::vector<BudgetRow> budgets;
  std::vector<SizeRow> sizes;
  std::vector<CutoffRow> cutoffs;
  std::vector<ConnectionRow> clients, servers;
  std::vector<ListenerRow> listeners;
  std::vector<MemoryRow> memory;
  std::vector<PoolRow> pools;
  std::vector<HostRow> hosts;
  std::vector<RttRow> rtt;
  std::string profile;  // JSON of profile::to_json
  std::vector<RouteRow> routes;
  std::vector<DecisionRow> decisions;         // the last thousand; the last kOverviewRows of an overview
  std::vector<RoleChangeEvent> role_changes;  // oldest first
  std::vector<RejectionRow> rejections;
  std::vector<WarningRow> warnings;
  std::vector<StatsRow> stats;
  ListsRow lists;
  std::vector<DatabaseRow> databases;
  std::vector<UserRow> users;
  std::vector<ConfigRow> config;
  StateRow state;
  std::vector<ClusterRow> cluster;
  std::vector<NameRow> names;  // that are looked up; with Part::Cluster
};

// Outcome of a command. A failed one becomes an ErrorResponse with these fields; the notes of a successful
// one become NOTICEs (RELOAD: which options wait for a restart).
struct CommandResult {
  std::string sqlstate;  // empty: it worked
  std::string message, detail, hint;
  std::vector<std::string> notes;
  bool ok() const noexcept { return sqlstate.empty(); }
};

enum class Draining { Off, On };
enum class Availability { Enabled, Disabled };
enum class ShutdownMode { Immediate, WaitForServers, WaitForClients };

// Why a command that came over HTTP is not carried out.
enum class CommandRefusal {
  Off,      // no token is configured: nothing can be changed over HTTP
  Foreign,  // a browser sends it on behalf of a page from elsewhere
  Token,    // the token is missing or wrong
  Host,     // it is asked of another name
};

// The router as seen from admin.
// Thread: each RouterView object belongs to one thread. It is called there and calls `done` there, exactly
// once, perhaps before the call returns; where the answer needs other threads, the implementation posts and
// comes back. Lifetime: `done` may be called after whoever asked is gone; it then does nothing. It must not
// be called after the view itself was destroyed.
class RouterView {
 public:
  using SnapshotDone = std::function<void(Snapshot)>;
  using CommandDone = std::function<void(CommandResult)>;

  virtual ~RouterView() = default;

  virtual std::string version() const = 0;  // "0.1.0"
  virtual WallTime now() const = 0;         // for ages and for the seconds of PgBouncer's columns

  // Fills in at least the part asked for.
  virtual void gather(Part part, SnapshotDone done) = 0;

  // All or nothing; the message of a failure names file and line of the first problem, the detail the others.
  virtual void reload(CommandDone done) = 0;
  // 42704 for a name that is no replica. Draining twice is no error.
  virtual void set_draining(std::string replica, Draining draining, CommandDone done) = 0;
  virtual void kill_client(std::uint64_t id, CommandDone done) = 0;  // 42704 for an unknown id

  // Of one database, by the name that clients use, or of all. 42704 for a name that no client could use.
  using DatabaseName = std::optional<std::string>;
  // Gives its sessions no server any more; done when none of them has one, with 57014 when a resume came
  // first.
  virtual void pause(DatabaseName database, CommandDone done) = 0;
  virtual void resume(DatabaseName database, CommandDone done) = 0;  // 55000 where it is not paused
  // Ends its sessions and pauses it; done when they have been told, not when they are gone. 42704 for a name
  // that is neither configured nor that of any session's.
  virtual void kill_database(DatabaseName database, CommandDone done) = 0;
  // Closes its server connections: the idle ones now, the others as soon as they are free.
  virtual void reconnect(DatabaseName database, CommandDone done) = 0;
  // Done when no server connection of it is left that is to be closed once it is free.
  virtual void wait_close(DatabaseName database, CommandDone done) = 0;
  // Whether new sessions of it are let in.
  virtual void set_availability(std::string database, Availability availability, CommandDone done) = 0;

  // Changes one option until the next reload. 42704 for an unknown key, 55P02 for one that a reload cannot
  // change, 22023 for a value that is refused.
  virtual void set_option(std::string key, std::string value, CommandDone done) = 0;
  // Told of each command over HTTP that is refused, so that it can be seen that somebody tries. `command` is
  // one word, `peer` an address with its port.
  virtual void command_refused(std::string_view command, CommandRefusal why, const std::string& peer) = 0;
  // done as soon as the shutdown has begun. The router ends console sessions last.
  virtual void shutdown(ShutdownMode mode, CommandDone done) = 0;
};

}  // namespace sluice::admin
