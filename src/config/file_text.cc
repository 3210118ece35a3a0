#include "config/file_text.h"

#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sluice::config {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const noexcept { return fd_; }

 private:
  int fd_;
};

std::string reason(int error) {
  return std::generic_category().message(error);
}

}  // namespace

FileText read_file(const std::string& path, std::size_t bytes_max) {
  FileText file;
  const Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (fd.get() < 0) return file.problem = "cannot be opened: " + reason(errno), file;
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) return file.problem = "cannot be read: " + reason(errno), file;
  if (!S_ISREG(status.st_mode)) return file.problem = "is not a regular file", file;
  file.others_can_read = (status.st_mode & S_IROTH) != 0;
  std::string text;
  const std::size_t chunk_bytes = 1 << 16;
  while (text.size() <= bytes_max) {
    const std::size_t before = text.size();
    text.resize(before + chunk_bytes);
    const ssize_t n = ::read(fd.get(), text.data() + before, chunk_bytes);
    if (n < 0 && errno != EINTR) return file.problem = "cannot be read: " + reason(errno), file;
    text.resize(before + static_cast<std::size_t>(n < 0 ? 0 : n));
    if (n == 0) return file.text = std::move(text), file;
  }
  file.problem = "is larger than " + std::to_string(bytes_max) + " bytes";
  return file;
}

std::string path_from(const std::string& from, const std::string& path) {
  if (path.empty() || path.front() == '/') return path;
  const std::size_t slash = from.rfind('/');
  return slash == from.npos ? path : from.substr(0, slash + 1) + path;
}

}  // namespace sluice::config
