#include "tests/support/postgres_fixture.h"

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include <netinet/in.h>
#include <pwd.h>
#include <sys/socket.h>
#include <unistd.h>

namespace sluice::tests {
namespace {

namespace fs = std::filesystem;

std::string binaries() {
  std::error_code ec;
  std::string newest;
  for (const auto& entry : fs::directory_iterator("/usr/lib/postgresql", ec)) {
    const fs::path bin = entry.path() / "bin";
    if (fs::exists(bin / "initdb", ec) && bin.string() > newest) newest = bin.string();
  }
  return newest;
}

void run(const std::string& directory, const std::string& command) {
  // PostgreSQL refuses to run as root.
  const std::string as = ::geteuid() == 0 ? "setpriv --reuid=postgres --regid=postgres --init-groups " : "";
  const std::string line = "cd " + directory + " && " + as + "env LC_ALL=C " + binaries() + "/" + command +
                           " >>" + directory + "/commands.log 2>&1";
  if (std::system(line.c_str()) != 0)
    throw std::runtime_error("failed: " + command + " (see " + directory + "/commands.log)");
}

std::string make_directory() {
  std::string pattern = fs::temp_directory_path().string() + "/sluice-pg-XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
  if (::geteuid() == 0) {
    const passwd* user = ::getpwnam("postgres");
    if (user == nullptr || ::chown(pattern.c_str(), user->pw_uid, user->pw_gid) != 0)
      throw std::runtime_error("chown failed");
  }
  return pattern;
}

// Free now; another process may take it before the server does, in which case starting fails.
std::uint16_t free_port() {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  const bool ok = ::bind(fd, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                  ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  ::close(fd);
  if (!ok) throw std::runtime_error("no free port");
  return ntohs(address.sin_port);
}

}  // namespace

std::optional<std::string> PostgresServer::unavailable() {
  if (binaries().empty()) return "no PostgreSQL server binaries under /usr/lib/postgresql";
  if (::geteuid() == 0 && ::getpwnam("postgres") == nullptr) return "no user postgres to run the server as";
  return std::nullopt;
}

PostgresServer::PostgresServer() : directory_(make_directory()), port_(free_port()) {
  std::ofstream(directory_ + "/password") << "postgres\n";
  run(directory_,
      "initdb -D data -U postgres -N --no-instructions --pwfile=password"
      " --auth-local=trust --auth-host=scram-sha-256");
  std::ofstream(directory_ + "/data/postgresql.auto.conf", std::ios::app)
      << "fsync=off\nmax_wal_senders=5\nlisten_addresses='127.0.0.1'\nshared_buffers='16MB'\n";
  start();
}

PostgresServer::PostgresServer(const PostgresServer& primary, std::string name)
    : directory_(make_directory()), port_(free_port()) {
  run(directory_, "pg_basebackup -D data -R -X stream -c fast -h " + primary.directory() + " -p " +
                      std::to_string(primary.port()) + " -U postgres");
  std::ofstream(directory_ + "/data/postgresql.auto.conf", std::ios::app)
      << "cluster_name='" << name << "'\n";
  start();
}

PostgresServer::~PostgresServer() {
  try {
    if (running_) stop();
  } catch (const std::exception&) {
    // The directory goes anyway; a server without its data directory ends by itself.
  }
  std::error_code ec;
  fs::remove_all(directory_, ec);
}

void PostgresServer::start() {
  run(directory_, "pg_ctl -D data -l server.log -w -t 30 -s -o '-k " + directory_ + " -p " +
                      std::to_string(port_) + "' start");
  running_ = true;
}

void PostgresServer::stop() {
  run(directory_, "pg_ctl -D data -m immediate -w -s stop");
  running_ = false;
}

void PostgresServer::promote() {
  run(directory_, "pg_ctl -D data -w -s promote");
}

void PostgresServer::sql(const std::string& statement) const {
  run(directory_, "psql -X -q -v ON_ERROR_STOP=1 -h " + directory_ + " -p " + std::to_string(port_) +
                      " -U postgres -d postgres -c \"" + statement + "\"");
}

pgclient::ConnectParams PostgresServer::over_tcp() const {
  pgclient::ConnectParams params;
  params.host = "127.0.0.1";
  params.port = port_;
  params.user = params.database = params.password = "postgres";
  return params;
}

pgclient::ConnectParams PostgresServer::over_unix_socket() const {
  pgclient::ConnectParams params = over_tcp();
  params.host = directory_;
  params.password.clear();
  return params;
}

}  // namespace sluice::tests
