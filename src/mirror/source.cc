#include "mirror/source.h"

#include <algorithm>

#include "base/text.h"

namespace sluice::mirror {
namespace {

constexpr std::size_t kUrlBytesMax = 2048;

bool is_visible(char c) {
  return c > 0x20 && c < 0x7f;
}

}  // namespace

std::optional<Source> Source::parse(std::string_view url, std::string& problem, Https https) {
  constexpr std::string_view kPlain = "http://", kSecure = "https://";
  const auto refuse = [&](const char* why) {
    problem = why;
    return std::nullopt;
  };
  const bool secure = https == Https::Allowed && url.starts_with(kSecure);
  if (!secure && !url.starts_with(kPlain))
    return refuse(https == Https::Allowed ? "the address must begin with http:// or https://"
                                          : "the address must begin with http://");
  if (url.size() > kUrlBytesMax || !std::all_of(url.begin(), url.end(), is_visible))
    return refuse("the address is too long or has characters that cannot be in one");
  url.remove_prefix(secure ? kSecure.size() : kPlain.size());
  Source source;
  source.secure = secure;
  if (secure) source.port = 443;
  const std::size_t slash = url.find('/');
  if (slash != url.npos && slash + 1 < url.size()) source.path = url.substr(slash);
  std::string_view authority = url.substr(0, slash);
  if (authority.find_first_of("@?#") != authority.npos || source.path.find('#') != source.path.npos)
    return refuse("the address is http://HOST:PORT/PATH, without users and fragments");
  std::string_view port;
  if (authority.starts_with('[')) {
    const std::size_t end = authority.find(']');
    if (end == authority.npos) return refuse("the address has a [ without ]");
    source.host = authority.substr(1, end - 1);
    port = authority.substr(end + 1);
  } else {
    const std::size_t colon = authority.find(':');
    source.host = authority.substr(0, colon);
    port = colon == authority.npos ? std::string_view() : authority.substr(colon);
  }
  if (source.host.empty() || source.host.find_first_of("[]") != source.host.npos)
    return refuse("the address names no host");
  if (!port.empty()) {
    source.port = port.front() == ':' ? to_number<std::uint16_t>(port.substr(1)).value_or(0) : 0;
    if (source.port == 0) return refuse("the port is not a number from 1 to 65535");
  }
  return source;
}

std::string Source::authority() const {
  const bool v6 = host.find(':') != host.npos;
  return (v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

}  // namespace sluice::mirror
