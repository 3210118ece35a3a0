#include "shm/profile_reader.h"

#include <array>
#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profile/profile_error.h"
#include "profile/read_profile.h"

namespace sluice::shm {
namespace {

using profile::ProfileErrc;

Error system_error() noexcept {
  return Error(std::error_code(errno, std::system_category()));
}

}  // namespace

void Descriptor::reset() noexcept {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

// Opens what stands at the path now, unless that is the file that is open already.
Result<void> ProfileReader::open() {
  struct stat now {};
  if (::stat(path_.c_str(), &now) != 0) {
    const Error error = system_error();
    file_.reset();
    return error;
  }
  if (file_ && now.st_dev == device_ && now.st_ino == inode_) return {};
  // Without O_NONBLOCK a named pipe would hold us until somebody writes into it.
  file_ = Descriptor(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file_) return system_error();
  if (::fstat(file_.get(), &now) != 0) return system_error();
  device_ = now.st_dev;
  inode_ = now.st_ino;
  if (S_ISREG(now.st_mode)) return {};
  file_.reset();
  return ProfileErrc::NotAProfile;
}

Result<profile::Profile> ProfileReader::read() {
  if (const auto opened = open(); !opened) return opened.error();
  struct stat now {};
  if (::fstat(file_.get(), &now) != 0) return system_error();
  const auto size = static_cast<std::uint64_t>(now.st_size);
  std::array<std::byte, sizeof(sluice_profile_header)> bytes;
  const auto head = std::span(bytes).first(std::min<std::size_t>(size, bytes.size()));
  if (const auto done = read_exactly(file_.get(), 0, head); !done) return done.error();
  const auto header = profile::read_header(head, size);
  if (!header) return header.error();
  records_.look_at(file_.get());
  return profile::read_profile(records_, *header);
}

std::string profile_problem(const std::string& path, const Error& error) {
  std::string text = path + ": ";
  if (error.code == std::errc::no_such_file_or_directory)
    return text + "there is no profile: no router publishes one here (profile_path), or none has started yet";
  if (error.code == std::errc::permission_denied)
    return text + "not allowed to read the profile: profile_mode of the router says who may";
  text += error.code.message();
  if (error.code == ProfileErrc::NotAProfile) return text + "; is the path right?";
  if (error.code == ProfileErrc::Incompatible)
    return text + ": update this program, or publish with the same version";
  if (error.code == ProfileErrc::Truncated || error.code == ProfileErrc::Malformed)
    return text + "; the writer puts a new one in its place when it starts again";
  if (error.code == ProfileErrc::Busy) return text + "; if this stays, start the writer again";
  return text;
}

}  // namespace sluice::shm
