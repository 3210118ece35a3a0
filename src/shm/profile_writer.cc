#include "shm/profile_writer.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <span>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profile/layout.h"

namespace sluice::shm {
namespace {

Error failed(int code, const std::string& what, std::string& problem) {
  const std::error_code error(code, std::system_category());
  problem = what + ": " + error.message();
  return Error(error);
}

std::int64_t unix_now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::string holder_of(int lock) {
  std::array<char, 32> text{};
  const ssize_t n = ::pread(lock, text.data(), text.size() - 1, 0);
  const long pid = n > 0 ? std::strtol(text.data(), nullptr, 10) : 0;
  return pid > 0 ? "process " + std::to_string(pid) : "another process";
}

}  // namespace

bool is_at(int file, const std::string& path) noexcept {
  struct stat named {
  }, own{};
  return ::stat(path.c_str(), &named) == 0 && ::fstat(file, &own) == 0 && named.st_dev == own.st_dev &&
         named.st_ino == own.st_ino;
}

Result<Descriptor> take_lock(const std::string& profile, std::string& problem) {
  const std::string path = profile + ".lock";
  Descriptor lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock) return failed(errno, "cannot open " + path, problem);
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    const int code = errno;
    if (code != EWOULDBLOCK) return failed(code, "cannot lock " + path, problem);
    problem = profile + " is written by " + holder_of(lock.get()) + " already; a profile has one writer";
    return Error(std::make_error_code(std::errc::device_or_resource_busy));
  }
  const std::string pid = std::to_string(::getpid()) + "\n";
  // For the message above alone.
  if (::ftruncate(lock.get(), 0) == 0) (void)!::pwrite(lock.get(), pid.data(), pid.size(), 0);
  return lock;
}

// The file that is in place, mapped, with its publisher.
class ProfileWriter::Mapping {
 public:
  Mapping(Descriptor file, std::span<std::byte> memory, const profile::Capacities& capacities,
          const profile::Identity& identity)
      : file_(std::move(file)), memory_(memory), publisher_(memory, capacities, identity) {}
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() { ::munmap(memory_.data(), memory_.size()); }

  profile::Publisher& publisher() noexcept { return publisher_; }
  // The path still names this file, in its whole length: a store into a file that was cut ends the process.
  bool is_whole_at(const std::string& path) const noexcept {
    struct stat own {};
    return is_at(file_.get(), path) && ::fstat(file_.get(), &own) == 0 &&
           static_cast<std::size_t>(own.st_size) >= memory_.size();
  }

 private:
  const Descriptor file_;
  const std::span<std::byte> memory_;
  profile::Publisher publisher_;
};

ProfileWriter::ProfileWriter(Settings settings, Descriptor lock)
    : settings_(std::move(settings)), lock_(std::move(lock)) {}

ProfileWriter::ProfileWriter(ProfileWriter&&) noexcept = default;

ProfileWriter::~ProfileWriter() {
  if (in_place()) mapping_->publisher().close(beat_at(contents_at_));
}

Result<ProfileWriter> ProfileWriter::open(Settings settings, std::string& problem) {
  auto lock = take_lock(settings.path, problem);
  if (!lock) return lock.error();
  return ProfileWriter(std::move(settings), *std::move(lock));
}

bool ProfileWriter::in_place() const noexcept {
  return mapping_ && mapping_->is_whole_at(settings_.path);
}

profile::Publisher::Beat ProfileWriter::beat_at(profile::Moment contents_at) const {
  return {std::chrono::steady_clock::now(), unix_now(), contents_at, settings_.interval};
}

// A file under the temporary name, with room for `capacities`.
Result<void> ProfileWriter::create(const profile::Capacities& capacities, std::string& problem) {
  const std::string path = settings_.path + ".new";
  const auto size = static_cast<std::size_t>(profile::Layout::of(capacities).file_size);
  ::unlink(path.c_str());  // what a writer that died has left
  Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) return failed(errno, "cannot create " + path, problem);
  const auto give_up = [&](int code) {
    ::unlink(path.c_str());
    return failed(code, "cannot make " + path + " " + std::to_string(size) + " bytes long", problem);
  };
  if (::fchmod(file.get(), settings_.mode & 0777) != 0) return give_up(errno);
  // Now, not at the first store: on a full file system that would end the process.
  if (const int code = ::posix_fallocate(file.get(), 0, static_cast<off_t>(size)); code != 0)
    return give_up(code);
  void* const memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (memory == MAP_FAILED) return give_up(errno);
  // By the clock, so that a restarted writer has another; and above the last one even if the clock was set
  // back.
  generation_ = std::max(generation_ + 1, static_cast<std::uint64_t>(unix_now()));
  const profile::Identity identity{generation_, ::getpid(), std::chrono::steady_clock::now(), unix_now()};
  mapping_ = std::make_unique<Mapping>(std::move(file), std::span(static_cast<std::byte*>(memory), size),
                                       capacities, identity);
  return {};
}

Result<void> ProfileWriter::publish(const profile::Contents& contents, profile::Moment contents_at,
                                    std::string& problem) {
  contents_at_ = contents_at;
  if (in_place() && mapping_->publisher().fits(contents)) {
    mapping_->publisher().publish(contents, beat_at(contents_at));
    return {};
  }
  const profile::Capacities before = mapping_ ? mapping_->publisher().capacities() : profile::Capacities{};
  // Readers of the old file, if it is still there, learn that nothing comes any more.
  if (in_place()) mapping_->publisher().close(beat_at(contents_at));
  mapping_.reset();
  // Whoever removed the profile may have removed the lock's file too, and another writer made one of its own.
  if (!is_at(lock_.get(), settings_.path + ".lock")) {
    auto lock = take_lock(settings_.path, problem);
    if (!lock) return lock.error();
    lock_ = *std::move(lock);
  }
  if (const auto done = create(before.grown_for(contents), problem); !done) return done.error();
  mapping_->publisher().publish(contents, beat_at(contents_at));
  const std::string made = settings_.path + ".new";
  if (::rename(made.c_str(), settings_.path.c_str()) != 0) {
    const int code = errno;
    mapping_.reset();
    ::unlink(made.c_str());
    return failed(code, "cannot rename " + made + " to " + settings_.path, problem);
  }
  return {};
}

void ProfileWriter::beat() {
  if (in_place()) mapping_->publisher().beat(beat_at(contents_at_));
}

}  // namespace sluice::shm
