#include "admin/http_access.h"

#include "base/bytes.h"
#include "http/head.h"
#include "protocol/crypto.h"

namespace sluice::admin {
namespace {

constexpr std::string_view kBearer = "Bearer ";

}  // namespace

bool is_of_own_page(const http::PageRequest& request) {
  const std::string_view site = request.fetch_site;
  if (!site.empty() && site != "same-origin" && site != "none") return false;
  if (request.origin.empty()) return true;
  std::string_view origin = request.origin;
  const std::size_t scheme = origin.find("://");
  if (scheme == std::string_view::npos) return false;  // "null"
  origin.remove_prefix(scheme + 3);
  return http::equals_ignoring_case(origin, request.host);
}

Access judge(const http::PageRequest& request, std::string_view token) {
  if (token.empty()) return Access::Off;
  if (!is_of_own_page(request)) return Access::Foreign;
  std::string_view given = request.authorization;
  if (given.size() < kBearer.size() || !http::equals_ignoring_case(given.substr(0, kBearer.size()), kBearer))
    return Access::Refused;
  given.remove_prefix(kBearer.size());
  return protocol::equal_in_constant_time(as_bytes(given), as_bytes(token)) ? Access::Granted
                                                                            : Access::Refused;
}

std::optional<CommandRefusal> refusal_of(Access access) noexcept {
  switch (access) {
    case Access::Granted:
      return std::nullopt;
    case Access::Off:
      return CommandRefusal::Off;
    case Access::Foreign:
      return CommandRefusal::Foreign;
    case Access::Refused:
      return CommandRefusal::Token;
  }
  return std::nullopt;
}

}  // namespace sluice::admin
