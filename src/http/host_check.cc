#include "http/host_check.h"

#include <algorithm>
#include <optional>

#include <arpa/inet.h>

#include "http/head.h"

namespace sluice::http {
namespace {

bool is_numeric(std::string_view text, int family) {
  in6_addr address{};  // the larger of the two
  return ::inet_pton(family, std::string(text).c_str(), &address) == 1;
}

bool is_port(std::string_view text) {
  return text.size() <= 5 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Without the port; nothing where it is no Host that a browser could send.
std::optional<std::string_view> name_in(std::string_view host) {
  const std::size_t end = host.starts_with('[') ? host.find(']') : host.find(':');
  if (host.starts_with('[') && end == std::string_view::npos) return std::nullopt;
  const std::size_t length = host.starts_with('[') ? end + 1 : std::min(end, host.size());
  const std::string_view rest = host.substr(length);
  if (!rest.empty() && (rest.front() != ':' || !is_port(rest.substr(1)))) return std::nullopt;
  return host.substr(0, length);
}

}  // namespace

bool is_own_host(std::string_view host, ListensAt at, std::string_view own_name,
                 std::span<const std::string> names) {
  if (host.empty() || at == ListensAt::UnixSocket) return true;
  const auto found = name_in(host);
  if (!found) return false;
  std::string_view name = *found;
  if (name.starts_with('[')) return is_numeric(name.substr(1, name.size() - 2), AF_INET6);
  if (is_numeric(name, AF_INET)) return true;
  if (name.ends_with('.')) name.remove_suffix(1);
  if (equals_ignoring_case(name, "localhost") || equals_ignoring_case(name, own_name)) return true;
  if (names.empty()) return at != ListensAt::Loopback;
  return std::any_of(names.begin(), names.end(), [name](const std::string& known) {
    return known == "*" || equals_ignoring_case(name, known);
  });
}

}  // namespace sluice::http
