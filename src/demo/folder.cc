#include "demo/folder.h"

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <thread>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "demo/failure.h"

namespace sluice::demo {
namespace {

namespace fs = std::filesystem;

// PostgreSQL's Unix socket, /.s.PGSQL.12345 behind the folder of one server, must fit into a sockaddr_un.
constexpr std::size_t kPathBytesMax = 80;

fs::path make_folder() {
  std::error_code ec;
  fs::path parent = fs::temp_directory_path(ec);
  if (ec || parent.string().size() > kPathBytesMax) parent = "/tmp";
  std::string pattern = (parent / "sluice-demo-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw Failure("no folder can be made in " + parent.string());
  return pattern;
}

[[noreturn]] void remove_after_end(int alive, const fs::path& path) {
  ::setpgid(0, 0);
  char byte = 0;
  while (::read(alive, &byte, 1) < 0 && errno == EINTR) {
  }
  // Servers whose parent was killed are ending now, and may still be writing.
  for (int attempt = 0; attempt < 50; ++attempt) {
    std::error_code ec;
    fs::remove_all(path, ec);
    if (!fs::exists(path)) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  ::_exit(0);
}

}  // namespace

Folder::Folder(Afterwards afterwards) : path_(make_folder()) {
  if (afterwards == Afterwards::Keep) return;
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw Failure("no pipe can be made");
  remover_ = ::fork();
  if (remover_ == 0) {
    ::close(ends[1]);
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
      ::close(fd);  // nobody shall wait for these
    remove_after_end(ends[0], path_);
  }
  ::close(ends[0]);
  alive_ = ends[1];
  if (remover_ < 0) throw Failure("no further process can be started");
}

Folder::~Folder() {
  if (remover_ <= 0) return;
  ::close(alive_);
  while (::waitpid(remover_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void Folder::write(const std::string& name, const std::string& text) const {
  const std::string target = file(name);
  const int fd = ::open(target.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  const bool written = fd >= 0 && ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (fd >= 0) ::close(fd);
  if (!written) throw Failure("cannot write " + target);
}

}  // namespace sluice::demo
