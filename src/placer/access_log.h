#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "sluice/placement/policy.h"

#include "base/result.h"
#include "telemetry/log_format.h"

namespace sluice::placer {

// One request, for its line.
struct RequestLine {
  std::string_view client, method, target;
  std::size_t path_size = 0;  // of the target, in front of the query
  int status = 0;             // 0 = the client got none
  std::uint64_t request_bytes = 0, response_bytes = 0;
  std::chrono::nanoseconds total{};  // from its first byte
  std::chrono::nanoseconds host_time{};
  std::string_view host, route;
  placement::Policy policy = placement::Policy::UserFirst;
  std::string_view request_id;
  std::uint32_t attempts = 1;
};

// Lines of requests, gathered by one thread and written in bulk to a file that all threads append to.
class AccessLog {
 public:
  // The file itself, for all threads. "-": standard output.
  class File {
   public:
    explicit File(std::string path) : path_(std::move(path)) {}
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    ~File();
    // Opens it, or anew after log rotation; on an error what was open stays.
    Result<void> open();
    void write(std::string_view lines);
    const std::string& path() const noexcept { return path_; }

   private:
    const std::string path_;
    std::mutex mutex_;
    int fd_ = -1;
  };

  // Appends the line; the query is left out unless asked for.
  void add(const RequestLine& line, log::Format format, bool with_query);
  bool large() const noexcept { return lines_.size() >= kBytesMax; }
  void flush(File& file);

 private:
  static constexpr std::size_t kBytesMax = 64 * 1024;
  std::string lines_;
};

}  // namespace sluice::placer
