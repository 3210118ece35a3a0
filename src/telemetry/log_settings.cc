#include "telemetry/log_settings.h"

namespace sluice::log {

Format format_of(config::LogFormat format) noexcept {
  return format == config::LogFormat::Json ? Format::Json : Format::KeyValue;
}

Settings settings_of(config::LogLevel level, config::LogFormat format, const std::string& file) {
  Settings settings;
  switch (level) {
    case config::LogLevel::Debug:
      settings.level = Level::Debug;
      break;
    case config::LogLevel::Info:
      settings.level = Level::Info;
      break;
    case config::LogLevel::Warning:
      settings.level = Level::Warning;
      break;
    case config::LogLevel::Error:
      settings.level = Level::Error;
      break;
  }
  settings.format = format_of(format);
  settings.file = file;
  return settings;
}

}  // namespace sluice::log
