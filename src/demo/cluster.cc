#include "demo/cluster.h"

#include <fstream>
#include <sstream>

#include "demo/failure.h"

namespace sluice::demo {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds kStepTimeout{120};  // far more than any step takes; a machine may be slow

// Durability is of no use to servers that are removed a minute later; small buffers, as there are six on one
// machine.
constexpr std::string_view kSettings = R"(
fsync = off
synchronous_commit = off
full_page_writes = off
shared_buffers = '16MB'
max_connections = 100
max_wal_senders = 12
wal_keep_size = '64MB'
max_worker_processes = 2
autovacuum_max_workers = 1
jit = off
listen_addresses = '127.0.0.1'
password_encryption = 'scram-sha-256'
)";

// One query of the sample load reads a row as pgbench does, and then works for some milliseconds while it
// holds one of the replica's two places. So each replica has a capacity of its own, although all of them
// share this machine, and a crowded replica answers later.
constexpr std::string_view kWork = R"(
CREATE FUNCTION demo_query(account int, place int) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(place);
  PERFORM pg_sleep(0.004);
  RETURN (SELECT abalance FROM pgbench_accounts WHERE aid = account);
END $$;
)";

}  // namespace

Cluster::Cluster(ClusterPlan plan, const Folder& folder, Signals& signals)
    : plan_(std::move(plan)), folder_(folder), signals_(signals) {}

std::string Cluster::name(std::size_t server) const {
  return server == 0 ? "primary" : "r" + std::to_string(server);
}

Command Cluster::program(const std::string& program_name, std::vector<std::string> arguments) const {
  Command command;
  command.argv = std::move(arguments);
  command.argv.insert(command.argv.begin(), plan_.programs + "/" + program_name);
  command.directory = folder_.path();
  command.log = folder_.file(program_name + ".log");
  return command;
}

void Cluster::start_primary() {
  run_all(signals_,
          {program("initdb",
                   {"-D", "primary", "-U", "postgres", "-N", "--no-instructions", "-E", "UTF8", "--locale=C",
                    "--wal-segsize=1", "--auth-local=trust", "--auth-host=scram-sha-256"})},
          kStepTimeout);
  std::ofstream(folder_.file("primary/postgresql.auto.conf"), std::ios::app) << kSettings;
  start(0);
  wait_until_it_answers(0);

  std::string statements = "CREATE DATABASE " + plan_.database + ";\n";
  for (const User& user : plan_.users)
    statements += "CREATE ROLE " + user.name + " LOGIN PASSWORD '" + user.password + "';\n";
  statements += "GRANT pg_monitor TO " + plan_.users.back().name + ";\n";
  folder_.write("users.sql", statements);
  run_sql("postgres", "users.sql");
  run_all(signals_,
          {program("pgbench", {"-i", "-q", "-I", "dtgp", "-s", "1", "-h", folder_.path(), "-p",
                               std::to_string(plan_.ports[0]), "-U", "postgres", plan_.database})},
          kStepTimeout);
  folder_.write("work.sql", std::string(kWork) + "GRANT SELECT ON ALL TABLES IN SCHEMA public TO PUBLIC;\n");
  run_sql(plan_.database, "work.sql");
}

void Cluster::start_standbys() {
  std::vector<Command> copies;
  for (std::size_t server = 1; server <= plan_.standbys; ++server) {
    copies.push_back(
        program("pg_basebackup", {"-D", name(server), "-R", "-X", "stream", "-c", "fast", "-N", "-h",
                                  folder_.path(), "-p", std::to_string(plan_.ports[0]), "-U", "postgres"}));
    copies.back().log = folder_.file(name(server) + "-copy.log");
  }
  run_all(signals_, copies, kStepTimeout);
  for (std::size_t server = 1; server <= plan_.standbys; ++server) {
    std::ofstream(folder_.file(name(server) + "/postgresql.auto.conf"), std::ios::app)
        << "cluster_name = '" << name(server) << "'\n";
    start(server);
  }
  for (std::size_t server = 1; server <= plan_.standbys; ++server)
    wait_until_it_answers(server);
}

void Cluster::start(std::size_t server) {
  Command command = program(
      "postgres", {"-D", name(server), "-k", folder_.path(), "-p", std::to_string(plan_.ports[server])});
  command.log = folder_.file(name(server) + ".log");
  command.death_signal = SIGQUIT;  // its immediate shutdown, which takes its own children along
  servers_.emplace_back(command);
}

void Cluster::wait_until_it_answers(std::size_t server) {
  const Clock::time_point deadline = Clock::now() + kStepTimeout;
  // As pg_ctl does: the eighth line of this file is the server's own word.
  const std::string path = folder_.file(name(server) + "/postmaster.pid");
  for (;;) {
    std::ifstream file(path);
    std::string line;
    int lines = 0;
    while (lines < 8 && std::getline(file, line))
      ++lines;
    if (lines == 8 && line.substr(0, 5) == "ready") return;
    if (!servers_[server].running() || Clock::now() > deadline)
      throw Failure("the PostgreSQL server " + name(server) + " does not start\n" +
                    end_of_log(folder_.file(name(server) + ".log")));
    signals_.wait_or_throw(Clock::now() + milliseconds(20));
  }
}

void Cluster::run_sql(const std::string& database, const std::string& file, const std::string& output) const {
  std::vector<std::string> arguments{"-X", "-q",
                                     "-A", "-t",
                                     "-v", "ON_ERROR_STOP=1",
                                     "-h", folder_.path(),
                                     "-p", std::to_string(plan_.ports[0]),
                                     "-U", "postgres",
                                     "-d", database,
                                     "-f", file};
  if (!output.empty()) arguments.insert(arguments.end(), {"-o", output});
  run_all(signals_, {program("psql", arguments)}, kStepTimeout);
}

void Cluster::write_userlist(const std::string& file) const {
  folder_.write(
      "userlist.sql",
      "SELECT format('\"%s\" \"%s\"', rolname, rolpassword) FROM pg_authid WHERE rolpassword IS NOT NULL;\n");
  folder_.write(file, "");
  run_sql("postgres", "userlist.sql", file);
}

void Cluster::stop(int signal) {
  for (Child& server : servers_)
    server.signal(signal);
  for (Child& server : servers_)
    server.stop(signal, seconds(5));
}

}  // namespace sluice::demo
