#include "placer/access_log.h"

#include <array>
#include <cerrno>
#include <ctime>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace sluice::placer {
namespace {

// "2026-11-29T22:45:17.123Z"
std::string now_text() {
  std::timespec now{};
  std::tm parts{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  ::gmtime_r(&now.tv_sec, &parts);
  std::array<char, 32> seconds{};
  const std::size_t size = std::strftime(seconds.data(), seconds.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  return fmt::format("{}.{:03}Z", std::string_view(seconds.data(), size), now.tv_nsec / 1'000'000);
}

double seconds(std::chrono::nanoseconds time) {
  // To the microsecond.
  return static_cast<double>(time.count() / 1000) / 1e6;
}

}  // namespace

AccessLog::File::~File() {
  if (fd_ > STDERR_FILENO) ::close(fd_);
}

Result<void> AccessLog::File::open() {
  const std::lock_guard lock(mutex_);
  if (path_ == "-") {
    fd_ = STDOUT_FILENO;
    return {};
  }
  const int fd = ::open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0640);
  if (fd < 0) return Error(std::error_code(errno, std::system_category()));
  if (fd_ >= 0) ::close(fd_);
  fd_ = fd;
  return {};
}

void AccessLog::File::write(std::string_view lines) {
  const std::lock_guard lock(mutex_);
  while (!lines.empty()) {
    const ssize_t count = ::write(fd_, lines.data(), lines.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;  // a full disk loses lines, not requests
    lines.remove_prefix(static_cast<std::size_t>(count));
  }
}

void AccessLog::add(const RequestLine& line, log::Format format, bool with_query) {
  const std::string time = now_text();
  const std::array fields = {
      log::Field("time", time),
      log::Field("client", line.client.empty() ? "unix" : line.client),
      log::Field("method", line.method),
      log::Field("path", with_query ? line.target : line.target.substr(0, line.path_size)),
      log::Field("status", line.status),
      log::Field("seconds", seconds(line.total)),
      log::Field("host_seconds", seconds(line.host_time)),
      log::Field("host", line.host),
      log::Field("route", line.route),
      log::Field("policy", placement::policy_name(line.policy)),
      log::Field("bytes_in", line.request_bytes),
      log::Field("bytes_out", line.response_bytes),
      log::Field("attempts", line.attempts),
      log::Field("request_id", line.request_id),
  };
  const std::string text = log::format_fields(format, "request", fields);
  if (format == log::Format::Json) {
    lines_.append("{").append(text).append("}\n");
  } else {
    lines_.append(text).append("\n");
  }
}

void AccessLog::flush(File& file) {
  if (lines_.empty()) return;
  file.write(lines_);
  lines_.clear();
}

}  // namespace sluice::placer
