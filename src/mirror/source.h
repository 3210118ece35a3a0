#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sluice::mirror {

// The HTTP admin of a router elsewhere.
struct Source {
  std::string host;  // name or numeric address, IPv6 without brackets
  std::uint16_t port = 80;
  std::string path = "/v1/profile";
  bool secure = false;  // https
  // Of the request's Authorization field, without line ends: a secret. Empty: there is none.
  std::string authorization{};

  // http://HOST[:PORT][/PATH]; without a path that of the profile. Where `https` is Allowed that scheme too.
  // nullopt with a sentence in `problem` otherwise: another scheme, user information, a port that is none,
  // characters that a request line cannot carry.
  enum class Https { Refused, Allowed };
  static std::optional<Source> parse(std::string_view url, std::string& problem,
                                     Https https = Https::Refused);
  std::string authority() const;  // for the Host field and for people: "10.0.0.1:9632", "[::1]:9632"

  friend bool operator==(const Source&, const Source&) = default;
};

}  // namespace sluice::mirror
