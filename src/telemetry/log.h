#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "telemetry/log_format.h"

// One line per event: log::info("session opened", {{"session", id}, {"class", name}}).
// From any thread. Before configure(): key=value lines on stderr from Info. Never give it passwords, keys,
// tokens or query text.
namespace sluice::log {

enum class Level : std::uint8_t { Debug, Info, Warning, Error };
std::optional<Level> parse_level(std::string_view name) noexcept;    // debug info warning error
std::optional<Format> parse_format(std::string_view name) noexcept;  // text json

struct Settings {
  Level level = Level::Info;
  Format format = Format::KeyValue;
  std::string file;  // "": stderr; "-": stdout
};
// On error (the file cannot be opened) what was before stays.
Result<void> configure(const Settings& settings);
// Opens the file anew, after it was renamed by log rotation. On error the old one stays open.
Result<void> reopen();

bool enabled(Level level) noexcept;
void write(Level level, std::string_view event, std::initializer_list<Field> fields);
// With the limit that warnings and errors have.
void write_limited(Level level, std::string_view event, std::initializer_list<Field> fields);

inline void debug(std::string_view event, std::initializer_list<Field> fields = {}) {
  if (enabled(Level::Debug)) write(Level::Debug, event, fields);
}
inline void info(std::string_view event, std::initializer_list<Field> fields = {}) {
  if (enabled(Level::Info)) write(Level::Info, event, fields);
}
// What strangers can cause as often as they like.
inline void info_limited(std::string_view event, std::initializer_list<Field> fields = {}) {
  if (enabled(Level::Info)) write_limited(Level::Info, event, fields);
}
// Warnings and errors of one event are limited (see LineLimiter): the next line that is written says how many
// were left out (`suppressed`), or settle_repeats() does.
inline void warning(std::string_view event, std::initializer_list<Field> fields = {}) {
  if (enabled(Level::Warning)) write(Level::Warning, event, fields);
}
inline void error(std::string_view event, std::initializer_list<Field> fields = {}) {
  if (enabled(Level::Error)) write(Level::Error, event, fields);
}

// A line for each event that was limited and is over; to be called about once a second.
void settle_repeats();
// Lines left out since the start.
std::uint64_t suppressed_lines() noexcept;

}  // namespace sluice::log
