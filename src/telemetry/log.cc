#include "telemetry/log.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/dist_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "telemetry/line_limiter.h"

namespace sluice::log {
namespace {

spdlog::level::level_enum to_spdlog(Level level) {
  switch (level) {
    case Level::Debug:
      return spdlog::level::debug;
    case Level::Info:
      return spdlog::level::info;
    case Level::Warning:
      return spdlog::level::warn;
    case Level::Error:
      return spdlog::level::err;
  }
  return spdlog::level::info;
}

// Errors while writing (a full disk) must not end the program, nor fill stderr.
void ignore_sink_error(const std::string&) {}

std::unique_ptr<spdlog::formatter> make_formatter(Format format) {
  const char* pattern = format == Format::Json ? R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l",%v})"
                                               : "time=%Y-%m-%dT%H:%M:%S.%eZ level=%l %v";
  return std::make_unique<spdlog::pattern_formatter>(pattern, spdlog::pattern_time_type::utc);
}

// The process's one logger. The sink behind it is replaced whole, under dist_sink's lock.
class Logger {
 public:
  Logger() {
    install(std::make_shared<spdlog::sinks::stderr_sink_st>());
    logger_.set_level(spdlog::level::debug);
    logger_.flush_on(spdlog::level::debug);
    logger_.set_error_handler(ignore_sink_error);
  }

  Result<void> configure(const Settings& settings) {
    const std::lock_guard lock(mutex_);
    std::error_code ec;
    auto sink = open(settings.file, ec);
    if (ec) return Error(ec);
    settings_ = settings;
    install(std::move(sink));
    level_.store(settings.level, std::memory_order_relaxed);
    format_.store(settings.format, std::memory_order_relaxed);
    return {};
  }

  Result<void> reopen() {
    const std::lock_guard lock(mutex_);
    std::error_code ec;
    auto sink = open(settings_.file, ec);
    if (ec) return Error(ec);
    install(std::move(sink));
    return {};
  }

  bool enabled(Level level) const noexcept { return level >= level_.load(std::memory_order_relaxed); }

  void write(Level level, std::string_view event, std::span<const Field> fields) {
    logger_.log(to_spdlog(level),
                spdlog::string_view_t(format_fields(format_.load(std::memory_order_relaxed), event, fields)));
  }

  void write_limited(Level level, std::string_view event, std::span<const Field> fields) {
    std::optional<std::uint64_t> left_out;
    {
      const std::lock_guard lock(limiter_mutex_);
      left_out = limiter_.admit(event, std::chrono::steady_clock::now());
      suppressed_.store(limiter_.suppressed(), std::memory_order_relaxed);
    }
    if (!left_out) return;
    std::vector<Field> all(fields.begin(), fields.end());
    if (*left_out > 0) all.emplace_back("suppressed", *left_out);
    write(level, event, all);
  }

  void settle_repeats() {
    std::vector<std::pair<std::string, std::uint64_t>> settled;
    {
      const std::lock_guard lock(limiter_mutex_);
      settled = limiter_.settle(std::chrono::steady_clock::now());
    }
    for (const auto& [event, count] : settled) {
      const std::array fields{Field("of", std::string_view(event)), Field("suppressed", count)};
      write(Level::Warning, "repeats are over", fields);
    }
  }

  std::uint64_t suppressed() const noexcept { return suppressed_.load(std::memory_order_relaxed); }

 private:
  static spdlog::sink_ptr open(const std::string& file, std::error_code& ec) {
    if (file.empty()) return std::make_shared<spdlog::sinks::stderr_sink_st>();
    if (file == "-") return std::make_shared<spdlog::sinks::stdout_sink_st>();
    try {
      return std::make_shared<spdlog::sinks::basic_file_sink_st>(file);
    } catch (const spdlog::spdlog_ex&) {
      ec = std::error_code(errno != 0 ? errno : EIO, std::generic_category());
      return nullptr;
    }
  }
  void install(spdlog::sink_ptr sink) {
    sink->set_formatter(make_formatter(settings_.format));
    outlet_->set_sinks({std::move(sink)});
  }

  std::mutex mutex_;  // settings_ and the change of sinks
  Settings settings_;
  std::atomic<Level> level_{Level::Info};
  std::atomic<Format> format_{Format::KeyValue};
  std::mutex limiter_mutex_;
  LineLimiter limiter_;
  std::atomic<std::uint64_t> suppressed_{0};
  std::shared_ptr<spdlog::sinks::dist_sink_mt> outlet_ = std::make_shared<spdlog::sinks::dist_sink_mt>();
  spdlog::logger logger_{"sluice", outlet_};
};

Logger& logger() {
  static auto* const instance = new Logger;  // never destroyed: threads may log until the process ends
  return *instance;
}

}  // namespace

std::optional<Level> parse_level(std::string_view name) noexcept {
  if (name == "debug") return Level::Debug;
  if (name == "info") return Level::Info;
  if (name == "warning") return Level::Warning;
  if (name == "error") return Level::Error;
  return std::nullopt;
}

std::optional<Format> parse_format(std::string_view name) noexcept {
  if (name == "text") return Format::KeyValue;
  if (name == "json") return Format::Json;
  return std::nullopt;
}

Result<void> configure(const Settings& settings) {
  return logger().configure(settings);
}

Result<void> reopen() {
  return logger().reopen();
}

bool enabled(Level level) noexcept {
  return logger().enabled(level);
}

void write(Level level, std::string_view event, std::initializer_list<Field> fields) {
  if (level >= Level::Warning) return write_limited(level, event, fields);
  logger().write(level, event, std::span<const Field>(fields.begin(), fields.size()));
}

void write_limited(Level level, std::string_view event, std::initializer_list<Field> fields) {
  logger().write_limited(level, event, std::span<const Field>(fields.begin(), fields.size()));
}

void settle_repeats() {
  logger().settle_repeats();
}

std::uint64_t suppressed_lines() noexcept {
  return logger().suppressed();
}

}  // namespace sluice::log
