#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "demo/child.h"
#include "demo/folder.h"
#include "demo/signals.h"

namespace sluice::demo {

// Throw-away users; each one's password is its own.
struct User {
  std::string name, password;
};

struct ClusterPlan {
  std::string programs;  // see postgresql_programs()
  std::size_t standbys = 5;
  std::vector<std::uint16_t> ports;  // of the primary, then of the standbys
  std::vector<User> users;           // may log in; the last one checks the servers' health
  std::string database;
};

// A primary with streaming standbys on 127.0.0.1, each a child process, all in the demo's folder. Logins over
// TCP need SCRAM; the Unix sockets lie in the folder, which only this user can enter.
class Cluster {
 public:
  Cluster(ClusterPlan plan, const Folder& folder, Signals& signals);

  void start_primary();   // initdb, users, tables, and the function that the sample load calls
  void start_standbys();  // pg_basebackup, all at once; returns when each of them answers queries
  void write_userlist(const std::string& file) const;  // names and SCRAM verifiers as the server keeps them
  void stop(int signal);

 private:
  std::string name(std::size_t server) const;  // "primary", "r1", ...
  Command program(const std::string& name, std::vector<std::string> arguments) const;
  void start(std::size_t server);
  void wait_until_it_answers(std::size_t server);
  void run_sql(const std::string& database, const std::string& file, const std::string& output = {}) const;

  ClusterPlan plan_;
  const Folder& folder_;
  Signals& signals_;
  std::vector<Child> servers_;
};

}  // namespace sluice::demo
