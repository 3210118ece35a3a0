#include "demo/environment.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>

#include <arpa/inet.h>
#include <grp.h>
#include <netinet/in.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "demo/failure.h"

namespace sluice::demo {
namespace {

namespace fs = std::filesystem;

bool has_all_programs(const fs::path& folder) {
  for (const char* name : {"initdb", "postgres", "pg_basebackup", "psql", "pgbench"})
    if (::access((folder / name).c_str(), X_OK) != 0) return false;
  return true;
}

std::vector<fs::path> debian_folders() {
  std::vector<std::pair<double, fs::path>> found;
  std::error_code ec;
  for (const auto& entry : fs::directory_iterator("/usr/lib/postgresql", ec))
    found.emplace_back(std::atof(entry.path().filename().c_str()), entry.path() / "bin");
  std::sort(found.rbegin(), found.rend());
  std::vector<fs::path> folders;
  for (auto& [version, folder] : found)
    folders.push_back(std::move(folder));
  return folders;
}

// A socket bound to 127.0.0.1; -1 if the port is taken.
int bound_socket(std::uint16_t port, std::uint16_t& bound) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) throw Failure("no socket can be made: " + std::string(std::strerror(errno)));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  socklen_t size = sizeof(address);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  // As the servers do: a port whose last connections are still in TIME_WAIT is free. But not when any port
  // will do: the kernel might then give two demos the same one.
  const int reuse = port != 0 ? 1 : 0;
  if (::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof(reuse)) != 0 ||
      ::bind(fd, generic, size) != 0 || ::getsockname(fd, generic, &size) != 0) {
    ::close(fd);
    return -1;
  }
  bound = ntohs(address.sin_port);
  return fd;
}

}  // namespace

std::string postgresql_programs() {
  if (const char* given = std::getenv("SLUICE_PG_BIN"); given != nullptr) {
    if (has_all_programs(given)) return given;
    throw Failure(std::string("SLUICE_PG_BIN is ") + given +
                  ", which lacks one of initdb, postgres, pg_basebackup, psql, pgbench");
  }
  for (const fs::path& folder : debian_folders())
    if (has_all_programs(folder)) return folder.string();
  const char* path = std::getenv("PATH");
  std::istringstream words(path == nullptr ? "" : path);
  for (std::string folder; std::getline(words, folder, ':');)
    if (!folder.empty() && has_all_programs(folder)) return folder;
  throw Failure(
      "PostgreSQL's server programs were not found in /usr/lib/postgresql or PATH.\n"
      "  Debian and Ubuntu: sudo apt-get install postgresql postgresql-client\n"
      "  elsewhere: set SLUICE_PG_BIN to the folder that holds initdb, postgres, pg_basebackup, psql and "
      "pgbench");
}

void give_up_root() {
  if (::geteuid() != 0) return;
  const passwd* user = ::getpwnam("postgres");
  if (user == nullptr)
    throw Failure(
        "PostgreSQL does not run as root, and there is no user postgres to become.\n"
        "  Install the package postgresql, or start the demo as an ordinary user");
  const uid_t uid = user->pw_uid;
  const gid_t gid = user->pw_gid;
  if (::initgroups("postgres", gid) != 0 || ::setresgid(gid, gid, gid) != 0 ||
      ::setresuid(uid, uid, uid) != 0)
    throw Failure("cannot become the user postgres: " + std::string(std::strerror(errno)));
  // Our own /proc entries, through which the router is started where this user may not go to the program,
  // shall be his.
  ::prctl(PR_SET_DUMPABLE, 1);
  ::unsetenv("HOME");
  ::unsetenv("XDG_RUNTIME_DIR");
  if (::chdir("/") != 0) throw Failure("cannot change to /");
}

std::vector<std::uint16_t> free_ports(std::size_t count) {
  std::vector<int> sockets;  // held until all are found, so that none comes twice
  std::vector<std::uint16_t> ports;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint16_t port = 0;
    const int fd = bound_socket(0, port);
    if (fd < 0) break;
    sockets.push_back(fd);
    ports.push_back(port);
  }
  for (const int fd : sockets)
    ::close(fd);
  if (ports.size() != count) throw Failure("there are no free TCP ports on 127.0.0.1");
  return ports;
}

bool is_port_free(std::uint16_t port) {
  std::uint16_t bound = 0;
  const int fd = bound_socket(port, bound);
  const bool free = fd >= 0 && ::listen(fd, 1) == 0;
  if (fd >= 0) ::close(fd);
  return free;
}

std::string random_password() {
  constexpr std::string_view kLetters = "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789";
  constexpr std::size_t kLength = 20;
  constexpr unsigned kFair =
      256 - 256 % kLetters.size();  // bytes from here on would favour the first letters
  std::string result;
  while (result.size() < kLength) {
    unsigned char byte = 0;
    if (::getrandom(&byte, 1, 0) != 1) throw Failure("the kernel gives no random bytes");
    if (byte < kFair) result += kLetters[byte % kLetters.size()];
  }
  return result;
}

std::string own_program() {
  std::error_code ec;
  const fs::path path = fs::read_symlink("/proc/self/exe", ec);
  // Executing the link itself also works where the user may not pass the folders on the way.
  return !ec && ::access(path.c_str(), X_OK) == 0 ? path.string() : "/proc/self/exe";
}

}  // namespace sluice::demo
