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

  // http://HOST[:PORT][/PATH]; without a path that of the profile. nullopt with a sentence in `problem`
  // otherwise: another scheme, user information, a port that is none, characters that a request line cannot
  // carry.
  static std::optional<Source> parse(std::string_view url, std::string& problem);
  std::string authority() const;  // for the Host field and for people: "10.0.0.1:9632", "[::1]:9632"

  friend bool operator==(const Source&, const Source&) = default;
};

}  // namespace sluice::mirror
