#include <cerrno>
#include <cstdio>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "calibration/calibration_file.h"
#include "calibration/wall_time.h"

namespace sluice::calibration {
namespace {

std::string number(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.6f", value);
  std::string trimmed = text;
  trimmed.erase(trimmed.find_last_not_of('0') + 1);
  if (trimmed.back() == '.') trimmed.pop_back();
  return trimmed == "-0" ? "0" : trimmed;
}

// In double quotes, whatever it holds.
std::string quoted(const std::string& name) {
  std::string text = "\"";
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      text += {'\\', c};
    } else if (byte < 0x20 || byte == 0x7f) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\x%02x", byte);
      text += escaped;
    } else {
      text += c;
    }
  }
  return text + '"';
}

std::string measurement(const Measurement& m) {
  return "{median_ms: " + number(m.median.count()) + ", low_ms: " + number(m.low.count()) +
         ", high_ms: " + number(m.high.count()) + ", samples: " + std::to_string(m.samples) +
         ", measured_at: \"" + wall_time_text(m.measured_at) + "\"}";
}

void line(std::string& text, const char* key, const std::optional<Measurement>& m) {
  if (m) text += "    " + std::string(key) + ": " + measurement(*m) + "\n";
}

Result<void> write_whole(int fd, const std::string& text) {
  for (std::size_t written = 0; written < text.size();) {
    const ssize_t n = ::write(fd, text.data() + written, text.size() - written);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Error(std::error_code(errno, std::generic_category()));
    written += static_cast<std::size_t>(n);
  }
  if (::fsync(fd) != 0) return Error(std::error_code(errno, std::generic_category()));
  return {};
}

}  // namespace

std::string to_yaml(const Calibration& calibration) {
  std::string text =
      "# Medians of response times with their 95% confidence intervals, in milliseconds, as sluice calibrate "
      "measured\n"
      "# them. docs/placement.md says what they mean.\n"
      "version: 1\n";
  if (!calibration.hosts.empty()) text += "hosts:\n";
  for (const Host& host : calibration.hosts) {
    text += "  - name: " + quoted(host.name) + "\n";
    line(text, "health", host.health);
    line(text, "connect", host.connect);
    line(text, "select_1", host.select_1);
  }
  if (!calibration.routes.empty()) text += "routes:\n";
  for (const Route& route : calibration.routes) {
    text += "  - name: " + quoted(route.name) + "\n";
    if (route.n_serial)
      text += "    n_serial: " + number(*route.n_serial) +
              "\n    n_serial_source: " + std::string(source_word(route.n_serial_source)) + "\n";
    if (!route.hosts.empty()) text += "    hosts:\n";
    for (const RouteOnHost& on_host : route.hosts) {
      text += "      - name: " + quoted(on_host.host) +
              "\n        response: " + measurement(on_host.response) + "\n";
      if (on_host.sql) text += "        sql_ms: " + number(on_host.sql->count()) + "\n";
      if (on_host.residual) text += "        residual_ms: " + number(on_host.residual->count()) + "\n";
    }
  }
  return text;
}

Result<void> save(const Calibration& calibration, const std::string& path) {
  const std::string temporary = path + ".new";
  const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (fd < 0) return Error(std::error_code(errno, std::generic_category()));
  Result<void> done = write_whole(fd, to_yaml(calibration));
  ::close(fd);
  if (done && ::rename(temporary.c_str(), path.c_str()) != 0)
    done = Error(std::error_code(errno, std::generic_category()));
  if (!done) ::unlink(temporary.c_str());
  return done;
}

}  // namespace sluice::calibration
